//! What carries a link: transfers that come, and transfers that go. Each is handed over whole, so that nothing is copied
//! between a connection and the cable but by its user.

use std::future::poll_fn;
use std::io;
use std::task::{Context, Poll};

use bytes::Bytes;

/// Transfers that come.
pub trait Incoming: Send {
    /// The next one, which may be empty. The end is an error.
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<io::Result<Bytes>>;
}

/// Transfers that go.
pub trait Outgoing: Send {
    /// Waits until another one may be sent.
    fn poll_room(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>>;

    /// Sends one. There was room for it.
    fn send(&mut self, transfer: Vec<u8>);

    /// Waits until all that was sent has left.
    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>>;
}

pub(super) async fn next(incoming: &mut impl Incoming) -> io::Result<Bytes> {
    poll_fn(|context| incoming.poll_next(context)).await
}

pub(super) async fn send(outgoing: &mut impl Outgoing, transfer: Vec<u8>) -> io::Result<()> {
    poll_fn(|context| outgoing.poll_room(context)).await?;
    outgoing.send(transfer);
    Ok(())
}

pub(super) async fn flush(outgoing: &mut impl Outgoing) -> io::Result<()> {
    poll_fn(|context| outgoing.poll_flush(context)).await
}
