//! Brings up the loopback interface of a new network namespace, the one that it begins with.

use std::io;

use super::netlink::{Message, Netlink};

/// The loopback interface, the first of every network namespace.
const LOOPBACK: u32 = 1;

/// `IFF_UP` of netdevice(7).
pub(super) const UP: u32 = 1;

pub(super) fn up() -> io::Result<()> {
    Netlink::open()?.ask(link_up(LOOPBACK))
}

/// Brings up an interface, after the attributes that are added.
pub(super) fn link_up(index: u32) -> Message {
    let mut link = vec![0; 4]; // family and type of device, any
    link.extend(index.to_ne_bytes());
    link.extend(UP.to_ne_bytes()); // flags, and which of them change
    link.extend(UP.to_ne_bytes());
    Message::new(libc::RTM_NEWLINK, 0, &link)
}
