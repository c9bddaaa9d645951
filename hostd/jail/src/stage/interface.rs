//! The second interface of a jail with a network: its addresses, its routes, and the neighbours behind it.
//!
//! Routes say at once to a program what is out of reach. They do not hold it: a socket that is bound to the interface
//! gets around them. The gate holds it.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::os::fd::OwnedFd;

use rustix::net::netdevice::name_to_index;

use super::kernel;
use super::loopback::link_up;
use super::netlink::{CREATE, Message, Netlink};
use super::uplink::Families;
use crate::reach::{Range, Reach};

/// Its name.
const NAME: &str = "net0";

/// Addresses of a jail. Those of IPv4 are from a block that no network routes (RFC 7335), those of IPv6 are the ones
/// that slirp4netns always has.
pub(super) const ADDRESS_V4: Ipv4Addr = Ipv4Addr::new(192, 0, 0, 100);
pub(super) const ADDRESS_V6: Ipv6Addr = Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 0x100);

/// Behind these, everything else is.
pub(super) const GATEWAY_V4: Ipv4Addr = Ipv4Addr::new(192, 0, 0, 2);
pub(super) const GATEWAY_V6: Ipv6Addr = Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 2);

/// At port 53 of these, names are resolved.
pub(super) const RESOLVER_V4: Ipv4Addr = Ipv4Addr::new(192, 0, 0, 3);
pub(super) const RESOLVER_V6: Ipv6Addr = Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 3);

/// The networks of a jail, its gateway and its resolver. The one of IPv4 is the smallest that slirp4netns makes.
pub(super) const NETWORK_V4: Range<Ipv4Addr> = Range {
    first: Ipv4Addr::new(192, 0, 0, 0),
    bits: 25,
};
pub(super) const NETWORK_V6: Range<Ipv6Addr> = Range {
    first: Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 0),
    bits: 64,
};

/// Hardware addresses, of the kind that nobody assigns.
pub(super) const JAIL_HARDWARE: [u8; 6] = [2, 0, 0, 0, 0, 2];
const GATEWAY_HARDWARE: [u8; 6] = [2, 0, 0, 0, 0, 1];

/// The longest packet. Longer than on a wire, since only a copy in memory is between the ends.
pub(super) const PACKET_BYTES_MAX: u32 = 65520;

/// `IFA_F_NODAD` of rtnetlink(7): nobody else can have the address.
const NO_DETECTION: u8 = 2;

/// Numbers of the address families in structures of rtnetlink(7).
const V4: u8 = 2;
const V6: u8 = 10;

/// Makes the interface. It needs `/dev/net/tun`.
pub(super) fn make() -> io::Result<OwnedFd> {
    kernel::tap(NAME)
}

/// Gives it addresses and routes, and brings it up.
pub(super) fn configure(families: Families, reach: Reach) -> io::Result<()> {
    let netlink = Netlink::open()?;
    let index = name_to_index(&netlink, NAME)?;
    let up = link_up(index)
        .with(libc::IFLA_MTU, &PACKET_BYTES_MAX.to_ne_bytes())
        .with(libc::IFLA_ADDRESS, &JAIL_HARDWARE);
    netlink.ask(up)?;
    let (not_v4, not_v6) = reach.not_public();
    if families.v4 {
        let (own, gateway) = (ADDRESS_V4.octets(), GATEWAY_V4.octets());
        netlink.ask(address(V4, NETWORK_V4.bits, index, &own).with(libc::IFA_LOCAL, &own))?;
        netlink.ask(neighbour(V4, index, &gateway))?;
        netlink.ask(neighbour(V4, index, &RESOLVER_V4.octets()))?;
        netlink.ask(way_out(V4, index, &gateway))?;
        for range in not_v4 {
            netlink.ask(unreachable(V4, range.bits, &range.first.octets()))?;
        }
    }
    if families.v6 {
        let gateway = GATEWAY_V6.octets();
        netlink.ask(address(V6, NETWORK_V6.bits, index, &ADDRESS_V6.octets()))?;
        netlink.ask(neighbour(V6, index, &gateway))?;
        netlink.ask(neighbour(V6, index, &RESOLVER_V6.octets()))?;
        netlink.ask(way_out(V6, index, &gateway))?;
        for range in not_v6 {
            netlink.ask(unreachable(V6, range.bits, &range.first.octets()))?;
        }
    }
    Ok(())
}

fn address(family: u8, bits: u8, index: u32, own: &[u8]) -> Message {
    let mut body = vec![family, bits, NO_DETECTION, 0];
    body.extend(index.to_ne_bytes());
    Message::new(libc::RTM_NEWADDR, CREATE, &body).with(libc::IFA_ADDRESS, own)
}

/// Who a neighbour is, for good: nothing is asked and nothing learnt. Slirp4netns takes frames for any hardware
/// address.
fn neighbour(family: u8, index: u32, its: &[u8]) -> Message {
    let mut body = vec![family, 0, 0, 0];
    body.extend(index.to_ne_bytes());
    body.extend(libc::NUD_PERMANENT.to_ne_bytes());
    body.extend([0; 2]); // flags and type
    Message::new(libc::RTM_NEWNEIGH, CREATE, &body)
        .with(libc::NDA_DST, its)
        .with(libc::NDA_LLADDR, &GATEWAY_HARDWARE)
}

fn way_out(family: u8, index: u32, gateway: &[u8]) -> Message {
    route(family, 0, libc::RTN_UNICAST)
        .with(libc::RTA_GATEWAY, gateway)
        .with(libc::RTA_OIF, &index.to_ne_bytes())
}

fn unreachable(family: u8, bits: u8, first: &[u8]) -> Message {
    route(family, bits, libc::RTN_UNREACHABLE).with(libc::RTA_DST, first)
}

fn route(family: u8, bits: u8, kind: u8) -> Message {
    let table = libc::RT_TABLE_MAIN;
    let body = [family, bits, 0, 0, table, libc::RTPROT_BOOT, 0, kind];
    let mut body = body.to_vec();
    body.extend([0; 4]); // flags
    Message::new(libc::RTM_NEWROUTE, CREATE, &body)
}
