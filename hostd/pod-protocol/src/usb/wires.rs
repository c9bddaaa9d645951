//! What carries a link: transfers that come, and transfers that go. Each is handed over whole, so that nothing is copied
//! between a connection and the cable but by its user.

use std::any::Any;
use std::fmt::Debug;
use std::future::poll_fn;
use std::io;
use std::task::{Context, Poll};

use bytes::Bytes;

/// Transfers that come.
pub trait Incoming: Send {
    /// The next one, which may be empty. The end is an error.
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<io::Result<Bytes>>;
}

/// Where a transfer is written, and sent from.
pub trait Room: Any + Debug + Send {
    /// What was written.
    fn bytes(&self) -> &[u8];

    /// The same, to be changed.
    fn bytes_mut(&mut self) -> &mut [u8];

    /// Writes more, up to [`TRANSFER_BYTES`](super::TRANSFER_BYTES) in all.
    fn put(&mut self, bytes: &[u8]);

    /// Forgets what was written. Whether it is of use for another transfer.
    fn clear(&mut self) -> bool;
}

impl Room for Vec<u8> {
    fn bytes(&self) -> &[u8] {
        self
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        self
    }

    fn put(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }

    /// New memory, as long as is needed, is as good.
    fn clear(&mut self) -> bool {
        false
    }
}

/// A transfer that goes, in memory or in what [`Outgoing::free`] gave.
pub type Transfer = Box<dyn Room>;

/// Transfers that go.
pub trait Outgoing: Send {
    /// Waits until another one may be sent.
    fn poll_room(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>>;

    /// Room from which a transfer is sent without being copied, if there is some free. It is empty.
    fn free(&mut self) -> Option<Transfer> {
        None
    }

    /// Sends one. There was room for it.
    fn send(&mut self, transfer: Transfer);

    /// Waits until all that was sent has left.
    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>>;
}

pub(super) async fn next(incoming: &mut impl Incoming) -> io::Result<Bytes> {
    poll_fn(|context| incoming.poll_next(context)).await
}

pub(super) async fn room(outgoing: &mut impl Outgoing) -> io::Result<()> {
    poll_fn(|context| outgoing.poll_room(context)).await
}

pub(super) async fn flush(outgoing: &mut impl Outgoing) -> io::Result<()> {
    poll_fn(|context| outgoing.poll_flush(context)).await
}
