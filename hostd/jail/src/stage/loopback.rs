//! Brings up the loopback interface of a new network namespace, its only interface.

use std::io;

use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, sendto, socket_with,
};

/// The loopback interface, the first of every network namespace.
const LOOPBACK: u32 = 1;

/// `RTM_NEWLINK` of rtnetlink(7).
const NEW_LINK: u16 = 16;

/// `NLM_F_REQUEST | NLM_F_ACK` of netlink(7).
const REQUEST_AND_ACK: u16 = 1 | 4;

/// `IFF_UP` of netdevice(7).
const UP: u32 = 1;

/// The lengths of `struct nlmsghdr` and of the `struct ifinfomsg` after it.
const MESSAGE_BYTES: u32 = 16 + 16;

pub(super) fn up() -> io::Result<()> {
    let socket = socket_with(
        AddressFamily::NETLINK,
        SocketType::RAW,
        SocketFlags::CLOEXEC,
        None,
    )?;
    let mut message = Vec::with_capacity(MESSAGE_BYTES as usize);
    message.extend(MESSAGE_BYTES.to_ne_bytes());
    message.extend(NEW_LINK.to_ne_bytes());
    message.extend(REQUEST_AND_ACK.to_ne_bytes());
    message.extend([0; 8]); // sequence and sender, nobody else writes here
    message.extend([0; 4]); // family and type of device, any
    message.extend(LOOPBACK.to_ne_bytes());
    message.extend(UP.to_ne_bytes()); // flags, and which of them change
    message.extend(UP.to_ne_bytes());
    sendto(
        &socket,
        &message,
        SendFlags::empty(),
        &SocketAddrNetlink::new(0, 0),
    )?;
    let mut answer = [0; 128];
    let (length, _) = recv(&socket, &mut answer, RecvFlags::empty())?;
    // `struct nlmsgerr` after the header: the negative error, or 0.
    let code = answer[..length]
        .get(16..20)
        .and_then(|code| code.try_into().ok());
    match code.map(i32::from_ne_bytes) {
        Some(0) => Ok(()),
        Some(code) => Err(io::Error::from_raw_os_error(-code)),
        None => Err(io::ErrorKind::InvalidData.into()),
    }
}
