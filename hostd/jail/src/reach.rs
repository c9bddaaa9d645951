//! How far into the network a jail reaches, as ranges of addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde::{Deserialize, Serialize};

/// What a jail with a network reaches. The host's loopback is never part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reach {
    /// Public addresses alone: no private network, nothing link-local, and no address that the host itself has
    /// when the jail starts.
    Public,
    /// Whatever the host reaches, and services on the host's own addresses.
    All,
}

/// Addresses that begin with the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range<A> {
    pub(crate) first: A,
    /// How many bits are the same.
    pub(crate) bits: u8,
}

const fn v4(first: [u8; 4], bits: u8) -> Range<Ipv4Addr> {
    let [a, b, c, d] = first;
    Range {
        first: Ipv4Addr::new(a, b, c, d),
        bits,
    }
}

/// A range whose first address has zeroes behind its first three parts.
const fn v6(first: [u16; 3], bits: u8) -> Range<Ipv6Addr> {
    let [a, b, c] = first;
    Range {
        first: Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0),
        bits,
    }
}

/// Nobody, the machine itself, many at once, and what is reserved.
const NEVER_V4: [Range<Ipv4Addr>; 4] = [
    v4([0, 0, 0, 0], 8),
    v4([127, 0, 0, 0], 8),
    v4([224, 0, 0, 0], 4),
    v4([240, 0, 0, 0], 4),
];

/// Nobody, the machine itself, IPv4 addresses in disguise, neighbours by link, and many at once.
const NEVER_V6: [Range<Ipv6Addr>; 3] = [
    v6([0, 0, 0], 64),
    v6([0xfe80, 0, 0], 10),
    v6([0xff00, 0, 0], 8),
];

/// The blocks of IANA's registry that are not reached globally, and the address at which a cloud speaks to its
/// machines that is in none of them.
const NOT_PUBLIC_V4: [Range<Ipv4Addr>; 11] = [
    v4([10, 0, 0, 0], 8),
    v4([100, 64, 0, 0], 10),
    v4([168, 63, 129, 16], 32),
    v4([169, 254, 0, 0], 16),
    v4([172, 16, 0, 0], 12),
    v4([192, 0, 0, 0], 24),
    v4([192, 0, 2, 0], 24),
    v4([192, 168, 0, 0], 16),
    v4([198, 18, 0, 0], 15),
    v4([198, 51, 100, 0], 24),
    v4([203, 0, 113, 0], 24),
];

/// All but 2000::/3, and the blocks in there that are not reached globally or hide an IPv4 address.
const NOT_PUBLIC_V6: [Range<Ipv6Addr>; 7] = [
    v6([0, 0, 0], 3),
    v6([0x4000, 0, 0], 2),
    v6([0x8000, 0, 0], 1),
    v6([0x2001, 0, 0], 23),
    v6([0x2001, 0xdb8, 0], 32),
    v6([0x2002, 0, 0], 16),
    v6([0x3fff, 0, 0], 20),
];

impl Reach {
    /// A stable word, as configurations have it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::All => "all",
        }
    }

    /// Ranges that are refused since they are not public.
    pub(crate) fn not_public(self) -> (&'static [Range<Ipv4Addr>], &'static [Range<Ipv6Addr>]) {
        match self {
            Self::Public => (&NOT_PUBLIC_V4, &NOT_PUBLIC_V6),
            Self::All => (&[], &[]),
        }
    }

    /// Whether an address is beyond this reach, whoever has it.
    pub(crate) fn refuses(self, address: IpAddr) -> bool {
        let (more_v4, more_v6) = self.not_public();
        match address {
            IpAddr::V4(address) => NEVER_V4
                .iter()
                .chain(more_v4)
                .any(|range| range.contains(address)),
            IpAddr::V6(address) => NEVER_V6
                .iter()
                .chain(more_v6)
                .any(|range| range.contains(address)),
        }
    }
}

impl Range<Ipv4Addr> {
    pub(crate) fn contains(&self, address: Ipv4Addr) -> bool {
        let differing = address.to_bits() ^ self.first.to_bits();
        differing.leading_zeros() >= u32::from(self.bits)
    }
}

impl Range<Ipv6Addr> {
    pub(crate) fn contains(&self, address: Ipv6Addr) -> bool {
        let differing = address.to_bits() ^ self.first.to_bits();
        differing.leading_zeros() >= u32::from(self.bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(reach: Reach, address: &str) -> bool {
        reach.refuses(address.parse().unwrap())
    }

    #[test]
    fn nobody_reaches_loopback_and_many_at_once() {
        for reach in [Reach::Public, Reach::All] {
            for address in [
                "0.0.0.0",
                "127.0.0.1",
                "127.255.0.1",
                "224.0.0.251",
                "239.1.2.3",
                "255.255.255.255",
                "::",
                "::1",
                "::ffff:10.0.0.1",
                "::10.0.0.1",
                "fe80::1",
                "ff02::fb",
            ] {
                assert!(refused(reach, address), "{address}");
            }
        }
    }

    #[test]
    fn private_networks_are_reached_where_all_is() {
        for address in [
            "10.0.0.1",
            "10.255.255.255",
            "100.64.0.1",
            "100.127.255.255",
            "168.63.129.16",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.1",
            "192.168.1.1",
            "fd00:ec2::254",
            "fc00::1",
            "64:ff9b::a00:1",
            "2001::1",
            "2002:a00:1::",
            "4000::1",
            "8000::1",
        ] {
            assert!(refused(Reach::Public, address), "{address}");
            assert!(!refused(Reach::All, address), "{address}");
        }
    }

    #[test]
    fn public_addresses_are_reached() {
        for address in [
            "1.1.1.1",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.1",
            "223.255.255.255",
            "2606:4700::1111",
            "2a00::1",
        ] {
            assert!(!refused(Reach::Public, address), "{address}");
        }
    }
}
