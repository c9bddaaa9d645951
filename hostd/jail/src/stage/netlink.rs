//! Requests to the kernel about interfaces, addresses and routes: rtnetlink(7).

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, sendto, socket_with,
};

/// The length of `struct nlmsghdr`.
const HEADER_BYTES: usize = 16;

/// `NLM_F_REQUEST | NLM_F_ACK` of netlink(7).
const REQUEST_AND_ACK: u16 = 1 | 4;

/// `NLM_F_CREATE` of netlink(7).
pub(super) const CREATE: u16 = 0x400;

/// A socket for requests about this network namespace.
pub(super) struct Netlink(OwnedFd);

/// One request: a structure of rtnetlink(7), and attributes.
pub(super) struct Message(Vec<u8>);

impl Message {
    /// A request of this kind, with these flags, about what `body` describes.
    pub(super) fn new(kind: u16, flags: u16, body: &[u8]) -> Self {
        let mut message = vec![0; 4]; // the length, known at the end
        message.extend(kind.to_ne_bytes());
        message.extend((REQUEST_AND_ACK | flags).to_ne_bytes());
        message.extend([0; 8]); // sequence and sender, nobody else writes here
        message.extend(body);
        Self(message)
    }

    /// Adds an attribute, of at most a few bytes.
    #[must_use]
    pub(super) fn with(mut self, kind: u16, value: &[u8]) -> Self {
        let bytes = u16::try_from(4 + value.len()).unwrap_or_default();
        self.0.extend(bytes.to_ne_bytes());
        self.0.extend(kind.to_ne_bytes());
        self.0.extend(value);
        self.0.resize(self.0.len().next_multiple_of(4), 0);
        self
    }
}

impl Netlink {
    pub(super) fn open() -> io::Result<Self> {
        Ok(Self(socket_with(
            AddressFamily::NETLINK,
            SocketType::RAW,
            SocketFlags::CLOEXEC,
            None,
        )?))
    }

    /// Has a request carried out.
    pub(super) fn ask(&self, message: Message) -> io::Result<()> {
        let Message(mut message) = message;
        let bytes = u32::try_from(message.len()).unwrap_or_default();
        message[..4].copy_from_slice(&bytes.to_ne_bytes());
        sendto(
            &self.0,
            &message,
            SendFlags::empty(),
            &SocketAddrNetlink::new(0, 0),
        )?;
        // The answer quotes a request that failed.
        let mut answer = [0; 1024];
        let (length, _) = recv(&self.0, &mut answer, RecvFlags::empty())?;
        // `struct nlmsgerr` after the header: the negative error, or 0.
        let code = answer[..length]
            .get(HEADER_BYTES..HEADER_BYTES + 4)
            .and_then(|code| code.try_into().ok());
        match code.map(i32::from_ne_bytes) {
            Some(0) => Ok(()),
            Some(code) => Err(io::Error::from_raw_os_error(-code)),
            None => Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

impl AsFd for Netlink {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
