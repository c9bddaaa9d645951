//! Which frames may leave a jail. Every frame passes here, in a process that the job cannot look into: whichever
//! interface, route, option or source address a program asks the kernel for, it does not get around this.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::interface::{NETWORK_V4, NETWORK_V6, RESOLVER_V4, RESOLVER_V6};
use crate::reach::Reach;

/// The length of an Ethernet header, without tags: nothing inside adds one.
const ETHERNET_BYTES: usize = 14;

/// Protocols above Ethernet.
const IPV4: u16 = 0x0800;
const ARP: u16 = 0x0806;
const IPV6: u16 = 0x86dd;

/// Protocols above IP that name resolution uses.
const TCP: u8 = 6;
const UDP: u8 = 17;

/// The port of name resolution, the one thing that there is in a jail's own network.
const DOMAIN: u16 = 53;

/// ICMPv6, and the message of a router about itself (RFC 4861).
const ICMP_V6: u8 = 58;
const ROUTER_ADVERTISEMENT: u8 = 134;

/// The flag for more fragments, and the offset of a fragment.
const FRAGMENT: u16 = 0x3fff;

/// What the frames of one jail may be for.
#[derive(Debug)]
pub(super) struct Gate {
    reach: Reach,
    /// Addresses of the host, where they are not to be reached.
    own: Vec<IpAddr>,
}

impl Gate {
    /// A gate as far as `reach`, on a host that has the addresses `own`.
    pub(super) fn new(reach: Reach, own: Vec<IpAddr>) -> Self {
        let own = match reach {
            Reach::Public => own,
            Reach::All => Vec::new(),
        };
        Self { reach, own }
    }

    /// Whether a frame may leave.
    pub(super) fn lets(&self, frame: &[u8]) -> bool {
        let Some((header, packet)) = frame.split_at_checked(ETHERNET_BYTES) else {
            return false;
        };
        match u16_at(header, 12) {
            // Answered by the other end itself.
            Some(ARP) => true,
            Some(IPV4) => self.lets_v4(packet).unwrap_or_default(),
            Some(IPV6) => self.lets_v6(packet).unwrap_or_default(),
            _ => false,
        }
    }

    /// Whether a frame may come in. One that tells a jail who its router is may not: it knows.
    pub(super) fn admits(frame: &[u8]) -> bool {
        let is_v6 = u16_at(frame, 12) == Some(IPV6);
        let message = ETHERNET_BYTES + 40;
        let is_advertisement = frame.get(ETHERNET_BYTES + 6) == Some(&ICMP_V6)
            && frame.get(message) == Some(&ROUTER_ADVERTISEMENT);
        !is_v6 || !is_advertisement
    }

    /// None if the packet ends too early.
    fn lets_v4(&self, packet: &[u8]) -> Option<bool> {
        let destination: [u8; 4] = packet.get(16..20)?.try_into().ok()?;
        let destination = Ipv4Addr::from(destination);
        if destination != RESOLVER_V4 {
            let is_inside = NETWORK_V4.contains(destination);
            return Some(!is_inside && self.reaches(destination.into()));
        }
        let is_whole = u16_at(packet, 6)? & FRAGMENT == 0;
        let header_bytes = usize::from(packet.first()? & 0xf) * 4;
        let protocol = *packet.get(9)?;
        Some(is_whole && is_query(protocol, packet.get(header_bytes..)?)?)
    }

    fn lets_v6(&self, packet: &[u8]) -> Option<bool> {
        let destination: [u8; 16] = packet.get(24..40)?.try_into().ok()?;
        let destination = Ipv6Addr::from(destination);
        if destination != RESOLVER_V6 {
            let is_inside = NETWORK_V6.contains(destination);
            return Some(!is_inside && self.reaches(destination.into()));
        }
        is_query(*packet.get(6)?, packet.get(40..)?)
    }

    fn reaches(&self, address: IpAddr) -> bool {
        !self.reach.refuses(address) && !self.own.contains(&address)
    }
}

/// Whether something is sent to a resolver.
fn is_query(protocol: u8, segment: &[u8]) -> Option<bool> {
    Some(matches!(protocol, TCP | UDP) && u16_at(segment, 2)? == DOMAIN)
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let bytes = bytes.get(at..at + 2)?;
    bytes.try_into().ok().map(u16::from_be_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: u16, packet: &[u8]) -> Vec<u8> {
        let mut frame = vec![2; 12];
        frame.extend(kind.to_be_bytes());
        frame.extend(packet);
        frame
    }

    fn to(destination: &str, protocol: u8, port: u16) -> Vec<u8> {
        let port = port.to_be_bytes();
        match destination.parse().unwrap() {
            IpAddr::V4(address) => {
                let mut packet = vec![0x45, 0, 0, 24, 0, 0, 0, 0, 64, protocol, 0, 0];
                packet.extend([192, 0, 0, 2]);
                packet.extend(address.octets());
                packet.extend([1, 2, port[0], port[1]]);
                frame(IPV4, &packet)
            }
            IpAddr::V6(address) => {
                let mut packet = vec![0x60, 0, 0, 0, 0, 4, protocol, 64];
                packet.extend([0; 16]);
                packet.extend(address.octets());
                packet.extend([1, 2, port[0], port[1]]);
                frame(IPV6, &packet)
            }
        }
    }

    #[test]
    fn only_what_is_in_reach_gets_out() {
        let own = ["9.9.9.9", "2600::1"].map(|address| address.parse().unwrap());
        let public = Gate::new(Reach::Public, own.to_vec());
        let all = Gate::new(Reach::All, own.to_vec());
        for (address, is_public) in [
            ("1.1.1.1", true),
            ("2600::2", true),
            ("9.9.9.9", false),
            ("2600::1", false),
            ("10.0.0.1", false),
            ("169.254.169.254", false),
            ("fd00:0:0:1::1", false),
        ] {
            let frame = to(address, TCP, 80);
            assert_eq!(public.lets(&frame), is_public, "{address}");
            assert!(all.lets(&frame), "{address}");
        }
        for address in ["127.0.0.1", "224.0.0.251", "255.255.255.255", "ff02::fb"] {
            assert!(!all.lets(&to(address, UDP, 5353)), "{address}");
        }
    }

    #[test]
    fn the_resolver_resolves_names_and_there_is_nothing_else_inside() {
        for reach in [Reach::Public, Reach::All] {
            let gate = Gate::new(reach, Vec::new());
            for resolver in [RESOLVER_V4.to_string(), RESOLVER_V6.to_string()] {
                assert!(gate.lets(&to(&resolver, UDP, DOMAIN)));
                assert!(gate.lets(&to(&resolver, TCP, DOMAIN)));
                assert!(!gate.lets(&to(&resolver, TCP, 80)));
                assert!(!gate.lets(&to(&resolver, 1, DOMAIN)));
            }
            for other in [
                "192.0.0.0",
                "192.0.0.2",
                "192.0.0.127",
                "fd00::2",
                "fd00::9",
            ] {
                assert!(!gate.lets(&to(other, UDP, DOMAIN)), "{other}");
            }
            let mut part = to(&RESOLVER_V4.to_string(), UDP, DOMAIN);
            part[ETHERNET_BYTES + 7] = 1;
            assert!(!gate.lets(&part));
        }
    }

    /// Whatever a program has the kernel send: a seeded stand-in for a fuzzer.
    #[test]
    fn no_frame_gets_out_of_reach() {
        let own = IpAddr::from([9, 9, 9, 9]);
        let gate = Gate::new(Reach::Public, vec![own]);
        let mut random = fastrand::Rng::with_seed(24);
        let mut let_out = 0;
        for _ in 0..100_000 {
            let mut frame: Vec<u8> = (0..random.usize(..80)).map(|_| random.u8(..)).collect();
            if let Some(kind) = frame.get_mut(12..14) {
                kind.copy_from_slice(&random.choice([IPV4, IPV6]).unwrap().to_be_bytes());
            }
            if !gate.lets(&frame) {
                continue;
            }
            let_out += 1;
            let destination = if frame[12..14] == IPV4.to_be_bytes() {
                IpAddr::from(<[u8; 4]>::try_from(&frame[30..34]).unwrap())
            } else {
                IpAddr::from(<[u8; 16]>::try_from(&frame[38..54]).unwrap())
            };
            assert!(
                !Reach::Public.refuses(destination) && destination != own,
                "{frame:?}"
            );
        }
        assert!(10_000 < let_out, "{let_out}");
    }

    #[test]
    fn routers_do_not_advertise() {
        let mut message = to("ff02::1", ICMP_V6, 0);
        message[ETHERNET_BYTES + 40] = ROUTER_ADVERTISEMENT;
        assert!(!Gate::admits(&message));
        message[ETHERNET_BYTES + 40] += 1;
        assert!(Gate::admits(&message));
        assert!(Gate::admits(&to("192.0.0.100", TCP, 80)));
    }

    #[test]
    fn what_is_cut_short_or_unknown_does_not_leave() {
        let gate = Gate::new(Reach::All, Vec::new());
        for whole in [to("1.1.1.1", TCP, 80), to("2600::2", TCP, 80)] {
            let least = if whole[12] == 8 { 20 } else { 40 };
            for bytes in 0..whole.len() {
                let lets = gate.lets(&whole[..bytes]);
                assert_eq!(lets, ETHERNET_BYTES + least <= bytes, "{bytes}");
            }
        }
        assert!(gate.lets(&frame(ARP, &[])));
        assert!(!gate.lets(&frame(0x8100, &[0; 64])));
    }
}
