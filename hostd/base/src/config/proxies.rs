//! The proxies that are trusted to name the client of a request. Anybody can write that header, so
//! it is ignored from anybody else.

use std::net::{IpAddr, SocketAddr};

use super::networks::Networks;

/// The trusted proxies.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Proxies(Networks);

impl Proxies {
    /// From addresses and networks such as `127.0.0.1, 10.1.0.0/16, fd00::/8`.
    ///
    /// # Errors
    /// What is wrong with the text, as a fragment that follows a name.
    pub fn parse(text: &str) -> Result<Self, String> {
        Networks::parse(text).map(Self)
    }

    /// Whether `address` is a trusted proxy.
    #[must_use]
    pub fn trusts(&self, address: IpAddr) -> bool {
        self.0.contain(address)
    }

    /// The address that a request comes from: the last one on its path that is not a trusted proxy.
    ///
    /// `forwarded` holds the values of the header to which each proxy appends its client, the nearest
    /// last.
    pub fn client(&self, peer: IpAddr, forwarded: &[&str]) -> IpAddr {
        let mut hops = forwarded.iter().rev().flat_map(|text| text.rsplit(','));
        let mut client = peer.to_canonical();
        while self.trusts(client)
            && let Some(named) = hops.next().and_then(|hop| address(hop.trim()))
        {
            client = named;
        }
        client
    }
}

/// An address as proxies write it: alone, in brackets, with a port.
fn address(text: &str) -> Option<IpAddr> {
    let plain = text
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'));
    let address = plain.unwrap_or(text).parse::<IpAddr>().ok();
    let address = address.or_else(|| text.parse::<SocketAddr>().ok().map(|a| a.ip()));
    address.map(|address| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::networks::NETWORKS_MAX;

    fn client(proxies: &str, peer: &str, forwarded: &[&str]) -> String {
        let proxies = Proxies::parse(proxies).unwrap();
        proxies.client(peer.parse().unwrap(), forwarded).to_string()
    }

    #[test]
    fn only_a_trusted_proxy_is_believed() {
        assert_eq!(client("", "192.0.2.1", &["198.51.100.7"]), "192.0.2.1");
        let own = "127.0.0.1, ::1,10.1.0.0/16";
        assert_eq!(client(own, "192.0.2.1", &["198.51.100.7"]), "192.0.2.1");
        assert_eq!(client(own, "127.0.0.1", &["198.51.100.7"]), "198.51.100.7");
        assert_eq!(
            client(own, "::ffff:127.0.0.1", &["198.51.100.7"]),
            "198.51.100.7"
        );
        assert_eq!(client(own, "127.0.0.1", &[]), "127.0.0.1");
    }

    #[test]
    fn what_a_client_writes_itself_is_passed_over() {
        // The client wrote 1.1.1.1; the proxies added what they saw.
        let forged = ["1.1.1.1, 198.51.100.7", "10.1.2.3"];
        assert_eq!(
            client("127.0.0.1,10.1.0.0/16", "127.0.0.1", &forged),
            "198.51.100.7"
        );
        assert_eq!(client("127.0.0.1", "127.0.0.1", &forged), "10.1.2.3");
        for broken in ["junk", "", "198.51.100.7, junk", "198.51.100.7,"] {
            assert_eq!(
                client("127.0.0.1", "127.0.0.1", &[broken]),
                "127.0.0.1",
                "{broken}"
            );
        }
    }

    #[test]
    fn addresses_come_in_several_forms() {
        for (text, expected) in [
            ("2001:db8::1", "2001:db8::1"),
            ("[2001:db8::1]", "2001:db8::1"),
            ("[2001:db8::1]:443", "2001:db8::1"),
            ("198.51.100.7:1234", "198.51.100.7"),
            ("::ffff:198.51.100.7", "198.51.100.7"),
        ] {
            assert_eq!(client("::1", "::1", &[text]), expected);
        }
    }

    #[test]
    fn networks_are_checked() {
        let trusts = |proxies: &str, address: &str| {
            let proxies = Proxies::parse(proxies).unwrap();
            proxies.trusts(address.parse().unwrap())
        };
        assert!(trusts("10.1.0.0/16", "10.1.255.255") && !trusts("10.1.0.0/16", "10.2.0.0"));
        assert!(trusts("0.0.0.0/0", "192.0.2.1") && !trusts("0.0.0.0/0", "::1"));
        assert!(trusts("fd00::/8", "fdff::1") && !trusts("fd00::/8", "fe00::1"));
        assert!(trusts("::/0", "2001:db8::1") && trusts("10.1.2.3/32", "10.1.2.3"));
        for bad in [
            "localhost",
            "10.0.0.0/33",
            "::/129",
            "10.0.0.0/",
            "10.0.0.0/-1",
            "10.0/8",
        ] {
            assert!(Proxies::parse(bad).is_err(), "{bad}");
        }
        let many = vec!["::1"; NETWORKS_MAX + 1].join(",");
        assert!(Proxies::parse(&many).is_err());
    }
}
