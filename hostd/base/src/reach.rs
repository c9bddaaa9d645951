//! Which addresses the server may reach for others. Who chooses the URLs of webhooks, or wrote a plugin, need not be the
//! server's administrator: what only the server itself can reach, such as services on its own addresses or a cloud's
//! metadata, is not for them. Private networks are for webhooks, since a bench and those who want to hear of it mostly
//! share one; [`Reach::without_private`] takes them out.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};

use crate::config::Networks;

/// Addresses at which clouds tell machines their secrets, besides link-local ones.
const METADATA: &str = "100.100.100.200, 192.0.0.192, fd00:ec2::254";

/// What is said of an address of a private network.
pub const PRIVATE: &str = "in a private network";

/// Which addresses may be reached.
#[derive(Debug, Clone)]
pub struct Reach {
    allowed: Networks,
    denied: Networks,
    denied_by: &'static str,
    metadata: Networks,
    has_private: bool,
    is_own: fn(IpAddr) -> bool,
}

/// An address may not be reached; the words say of what kind it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the address is {0}")]
pub struct Refused(pub &'static str);

impl Reach {
    /// With networks that are allowed whatever they are, and those that are denied; `denied_by` says who denies them:
    /// `denied by webhooks.deny`.
    ///
    /// # Errors
    /// What is wrong with a list.
    pub fn new(allow: &str, deny: &str, denied_by: &'static str) -> Result<Self, String> {
        Ok(Self {
            allowed: Networks::parse(allow)?,
            denied: Networks::parse(deny)?,
            denied_by,
            metadata: Networks::parse(METADATA)?,
            has_private: true,
            is_own,
        })
    }

    /// Private networks are not reached, unless they are allowed by name.
    #[must_use]
    pub fn without_private(mut self) -> Self {
        self.has_private = false;
        self
    }

    /// Whether an address may be reached. In IPv6 also the IPv4 address in it must be allowed.
    ///
    /// # Errors
    /// It may not.
    pub fn check(&self, address: IpAddr) -> Result<(), Refused> {
        let address = address.to_canonical();
        self.check_one(address)?;
        match address {
            IpAddr::V6(v6) => embedded(v6).try_for_each(|inner| self.check_one(inner.into())),
            IpAddr::V4(_) => Ok(()),
        }
    }

    fn check_one(&self, address: IpAddr) -> Result<(), Refused> {
        if self.denied.contain(address) {
            return Err(Refused(self.denied_by));
        }
        if self.allowed.contain(address) {
            return Ok(());
        }
        if self.metadata.contain(address) {
            return Err(Refused("for the metadata of a cloud"));
        }
        let kind = match address {
            IpAddr::V4(v4) => kind_of_v4(v4),
            IpAddr::V6(v6) => kind_of_v6(v6),
        };
        match kind {
            Some(kind) => Err(Refused(kind)),
            None if (self.is_own)(address) => Err(Refused("one of the server's own")),
            None if !self.has_private && is_private(address) => Err(Refused(PRIVATE)),
            None => Ok(()),
        }
    }
}

/// Whether an address is one of a network that is not the Internet: those of RFC 1918, of carriers (RFC 6598), and
/// unique local ones of IPv6 (RFC 4193).
#[must_use]
pub fn is_private(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(v4) => matches!(
            v4.octets(),
            [10, ..] | [172, 16..=31, ..] | [192, 168, ..] | [100, 64..=127, ..]
        ),
        IpAddr::V6(v6) => v6.segments()[0] & 0xfe00 == 0xfc00,
    }
}

/// What keeps an address from being reached; none if nothing does.
fn kind_of_v4(address: Ipv4Addr) -> Option<&'static str> {
    match address.octets() {
        [0, ..] => Some("unspecified"),
        [127, ..] => Some("the loopback of the server"),
        [169, 254, ..] => Some("link-local"),
        [224..=239, ..] => Some("multicast"),
        [240..=255, ..] => Some("reserved"),
        _ => None,
    }
}

fn kind_of_v6(address: Ipv6Addr) -> Option<&'static str> {
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0] => Some("unspecified"),
        [0, 0, 0, 0, 0, 0, 0, 1] => Some("the loopback of the server"),
        // RFC 8215: what is behind depends on a translator of the network, as does which part of it is an IPv4 address.
        [0x64, 0xff9b, 1, ..] => Some("for translators of a local network"),
        // RFC 2765, given up: what it means depends on a translator of the machine.
        [0, 0, 0, 0, 0xffff, 0, ..] => Some("an IPv4 address in disguise"),
        [0xfe80..=0xfebf, ..] => Some("link-local"),
        [0xfec0..=0xfeff, ..] => Some("reserved"),
        [0xff00..=0xffff, ..] => Some("multicast"),
        _ => None,
    }
}

/// Whether this machine has an address: what it sends there comes from there. Nothing is sent.
fn is_own(address: IpAddr) -> bool {
    let from: IpAddr = match address {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    // Any port but 0, which is none.
    let asked = UdpSocket::bind((from, 0)).and_then(|socket| {
        socket.connect((address, 1))?;
        socket.local_addr()
    });
    asked.is_ok_and(|from| from.ip() == address)
}

/// The IPv4 addresses that a translator (RFC 6052), a tunnel (RFC 3056, 4380, 5214), or an old notation puts into an IPv6
/// address.
fn embedded(address: Ipv6Addr) -> impl Iterator<Item = Ipv4Addr> {
    let v4 = |high: u16, low: u16| {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        Ipv4Addr::new(a, b, c, d)
    };
    let (first, second) = match address.segments() {
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => (Some(v4(high, low)), None),
        [0x2002, high, low, ..] => (Some(v4(high, low)), None),
        // The server of the tunnel, and behind which address its end is.
        [0x2001, 0, high, low, _, _, outer_high, outer_low] => {
            (Some(v4(high, low)), Some(v4(!outer_high, !outer_low)))
        }
        [_, _, _, _, 0 | 0x200, 0x5efe, high, low] => (Some(v4(high, low)), None),
        [0, 0, 0, 0, 0, 0, high, low] if high != 0 => (Some(v4(high, low)), None),
        _ => (None, None),
    };
    first.into_iter().chain(second)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reach(allow: &str, deny: &str) -> Reach {
        Reach::new(allow, deny, "denied by a test").unwrap()
    }

    fn may(reach: &Reach, address: &str) -> bool {
        reach.check(address.parse().unwrap()).is_ok()
    }

    #[test]
    fn what_only_the_server_reaches_is_refused() {
        let reach = reach("", "");
        for address in [
            "127.0.0.1",
            "127.9.9.9",
            "0.0.0.0",
            "0.1.2.3",
            "169.254.169.254",
            "224.0.0.251",
            "255.255.255.255",
            "100.100.100.200",
            "192.0.0.192",
            "::",
            "::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "fd00:ec2::254",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "::7f00:1",
            "64:ff9b::7f00:1",
            "64:ff9b::a9fe:a9fe",
            "2002:7f00:1::",
            "64:ff9b:1::7f00:1",
            "64:ff9b:1:ffff::c633:6407",
            "::ffff:0:127.0.0.1",
            "::ffff:0:198.51.100.7",
            "2001:0:c633:6407::80ff:fffe",
            "2001:0:7f00:1::39cc:9bf8",
            "2001:db8::5efe:127.0.0.1",
            "2001:db8::200:5efe:169.254.169.254",
        ] {
            assert!(!may(&reach, address), "{address}");
        }
    }

    #[test]
    fn public_and_private_networks_are_reached() {
        let reach = reach("", "");
        for address in [
            "198.51.100.7",
            "10.1.2.3",
            "192.168.1.20",
            "172.16.0.9",
            "2001:db8::7",
            "fd12:3456::7",
            "64:ff9b::c633:6407",
            "2001:0:c633:6407::39cc:9bf8",
            "2001:db8::5efe:198.51.100.7",
        ] {
            assert!(may(&reach, address), "{address}");
        }
    }

    #[test]
    fn the_servers_own_addresses_are_refused_unless_they_are_allowed() {
        let with_own = |allow: &str| Reach {
            is_own: |address| ["192.168.1.20", "2001:db8::7"].contains(&&*address.to_string()),
            ..reach(allow, "")
        };
        let mut own = with_own("");
        for address in [
            "192.168.1.20",
            "::ffff:192.168.1.20",
            "64:ff9b::c0a8:0114",
            "2001:db8::7",
        ] {
            let refused = own.check(address.parse().unwrap());
            assert_eq!(
                refused,
                Err(Refused("one of the server's own")),
                "{address}"
            );
        }
        assert!(may(&own, "192.168.1.21") && may(&with_own("192.168.1.20"), "192.168.1.20"));
        // A pattern that names the address does not make it a neighbour's.
        own = own.without_private();
        assert_ne!(own.check([192, 168, 1, 20].into()), Err(Refused(PRIVATE)));
    }

    #[test]
    fn a_machine_knows_its_own_addresses() {
        assert!(is_own([127, 0, 0, 1].into()));
        // One of documentation.
        assert!(!is_own([192, 0, 2, 1].into()));
    }

    #[test]
    fn the_configuration_opens_and_closes_networks() {
        let open = reach("127.0.0.1, ::1", "");
        assert!(may(&open, "127.0.0.1") && may(&open, "::1"));
        assert!(may(&open, "::ffff:127.0.0.1") && !may(&open, "127.0.0.2"));
        let closed = reach("10.1.0.0/16", "10.0.0.0/8, 192.168.0.0/16");
        assert!(!may(&closed, "10.1.2.3") && !may(&closed, "::ffff:192.168.1.1"));
        assert!(may(&closed, "198.51.100.7"));
    }

    #[test]
    fn private_networks_can_be_taken_out() {
        let reach = reach("10.1.0.0/16", "").without_private();
        for address in [
            "10.2.3.4",
            "172.31.0.1",
            "192.168.1.20",
            "100.64.0.1",
            "fd12:3456::7",
            "64:ff9b::c0a8:0101",
        ] {
            assert!(!may(&reach, address), "{address}");
        }
        for address in ["10.1.2.3", "198.51.100.7", "172.32.0.1", "2001:db8::7"] {
            assert!(may(&reach, address), "{address}");
        }
    }
}
