//! The format in which the kernel tells its transfers and takes what became of them: headers of 48 bytes,
//! big-endian, then perhaps bytes (Documentation/usb/usbip_protocol.rst).

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::mpsc;

use super::bus::Setup;

/// Bytes of each header.
const HEADER_BYTES: usize = 48;

/// The most that one transfer brings. The kernel's own bound for a program's transfers is 16 MiB for all together.
const TRANSFER_BYTES_MAX: u32 = 16 * 1024 * 1024;

/// Bytes for which there is room before a transfer comes.
const BYTES_AT_ONCE: usize = 64 * 1024;

const SUBMIT: u32 = 1;
const UNLINK: u32 = 2;
const SUBMITTED: u32 = 3;
const UNLINKED: u32 = 4;

/// The endpoint refuses (EPIPE).
const STALL: i32 = -32;

/// The transfer was cancelled (ECONNRESET).
const CANCELLED: i32 = -104;

/// The number by which the kernel knows a transfer.
pub(crate) type Sequence = u32;

/// What the kernel wants.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// Bytes of an endpoint; for endpoint 0 with the request.
    In {
        sequence: Sequence,
        endpoint: u8,
        length: usize,
        setup: Setup,
    },
    /// Bytes for an endpoint.
    Out {
        sequence: Sequence,
        endpoint: u8,
        bytes: Vec<u8>,
        setup: Setup,
    },
    /// Not any more the transfer `victim`.
    Unlink {
        sequence: Sequence,
        victim: Sequence,
    },
}

impl Command {
    /// Reads the next command. `None` at the end, and for what is no command.
    pub(crate) async fn read(reader: &mut (impl AsyncRead + Unpin)) -> Option<Self> {
        let mut header = [0; HEADER_BYTES];
        reader.read_exact(&mut header).await.ok()?;
        let word = |at: usize| {
            let bytes = header[4 * at..]
                .first_chunk()
                .expect("48 bytes are 12 words");
            u32::from_be_bytes(*bytes)
        };
        let (command, sequence, is_in) = (word(0), word(1), word(3) == 1);
        if command == UNLINK {
            let victim = word(5);
            return Some(Self::Unlink { sequence, victim });
        }
        if command != SUBMIT || TRANSFER_BYTES_MAX < word(6) {
            return None;
        }
        let endpoint = u8::try_from(word(4)).ok().filter(|number| *number < 16)?;
        let length = usize::try_from(word(6)).ok()?;
        let setup = Setup::of(header[40..].first_chunk().expect("the last 8 of 48 bytes"));
        if is_in {
            return Some(Self::In {
                sequence,
                endpoint,
                length,
                setup,
            });
        }
        // Beyond that it grows with what comes, not with what was promised.
        let mut bytes = Vec::with_capacity(length.min(BYTES_AT_ONCE));
        let mut promised = reader.take(u64::from(word(6)));
        if promised.read_to_end(&mut bytes).await.ok()? < length {
            return None;
        }
        Some(Self::Out {
            sequence,
            endpoint,
            bytes,
            setup,
        })
    }
}

/// What became of transfers, on its way to the kernel. There is one for each command, and the kernel bounds how many of
/// those are under way.
#[derive(Debug, Clone)]
pub(crate) struct Replies(pub(crate) mpsc::UnboundedSender<Vec<u8>>);

impl Replies {
    pub(crate) fn completed_in(&self, sequence: Sequence, bytes: &[u8]) {
        self.submitted(sequence, 0, bytes.len(), bytes);
    }

    pub(crate) fn completed_out(&self, sequence: Sequence, length: usize) {
        self.submitted(sequence, 0, length, &[]);
    }

    pub(crate) fn stalled(&self, sequence: Sequence) {
        self.submitted(sequence, STALL, 0, &[]);
    }

    /// What became of the wish to cancel a transfer.
    pub(crate) fn unlinked(&self, sequence: Sequence, was_pending: bool) {
        let status = if was_pending { CANCELLED } else { 0 };
        self.send(UNLINKED, sequence, status, 0, &[]);
    }

    fn submitted(&self, sequence: Sequence, status: i32, length: usize, bytes: &[u8]) {
        self.send(SUBMITTED, sequence, status, length, bytes);
    }

    fn send(&self, command: u32, sequence: Sequence, status: i32, length: usize, bytes: &[u8]) {
        let length = u32::try_from(length).expect("a transfer is far below 4 GiB");
        let mut reply = Vec::with_capacity(HEADER_BYTES + bytes.len());
        for word in [command, sequence, 0, 0, 0] {
            reply.extend(word.to_be_bytes());
        }
        reply.extend(status.to_be_bytes());
        reply.extend(length.to_be_bytes());
        reply.resize(HEADER_BYTES, 0);
        reply.extend_from_slice(bytes);
        // Once the kernel has gone, nobody waits for it.
        let _ = self.0.send(reply);
    }
}

/// Any bytes as what the kernel writes: bounded, and no panic.
#[doc(hidden)]
pub async fn fuzz(mut bytes: &[u8]) {
    let mut left = bytes.len();
    while let Some(command) = Command::read(&mut bytes).await {
        assert!(bytes.len() < left);
        if let Command::Out { bytes, .. } = &command {
            assert!(bytes.len() < left);
        }
        left = bytes.len();
    }
}
