//! Where a connection comes from, as limits count it: an IPv4 address, or the first 64 bits of an IPv6
//! address, which belong to one household or machine.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};

/// Bits of an IPv6 address that its owner may choose freely.
const IPV6_OWN_BITS: u32 = 64;

/// An address that limits are counted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Address(IpAddr);

impl From<IpAddr> for Address {
    fn from(ip: IpAddr) -> Self {
        Self(match ip.to_canonical() {
            IpAddr::V6(ip) => {
                let net = u128::from(ip) >> IPV6_OWN_BITS << IPV6_OWN_BITS;
                Ipv6Addr::from(net).into()
            }
            ip @ IpAddr::V4(_) => ip,
        })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            IpAddr::V4(ip) => ip.fmt(f),
            IpAddr::V6(ip) => write!(f, "{ip}/{}", u128::BITS - IPV6_OWN_BITS),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_owner_has_counts_as_one() {
        let address = |text: &str| Address::from(text.parse::<IpAddr>().unwrap());
        assert_eq!(address("2001:db8:1:2::1"), address("2001:db8:1:2:ffff::9"));
        assert_ne!(address("2001:db8:1:2::1"), address("2001:db8:1:3::1"));
        assert_eq!(address("::ffff:192.0.2.1"), address("192.0.2.1"));
        assert_ne!(address("192.0.2.2"), address("192.0.2.1"));
        assert_eq!(address("2001:db8:1:2::1").to_string(), "2001:db8:1:2::/64");
    }
}
