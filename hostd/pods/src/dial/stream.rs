//! A connection of a session, as its user holds it: bytes both ways.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::session::Session;

/// Dropping it closes it, as with TCP: what was written is still sent.
pub(super) struct DialStream {
    session: Arc<Session>,
    number: u64,
}

impl DialStream {
    pub(super) fn new(session: Arc<Session>, number: u64) -> Self {
        Self { session, number }
    }
}

impl AsyncRead for DialStream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.session
            .read(self.number, |channel| channel.poll_read(context, into))
    }
}

impl AsyncWrite for DialStream {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.session
            .write(self.number, |channel| channel.poll_write(context, bytes))
    }

    /// What was written goes out without being asked.
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    /// Ends the connection, since a tunnel has no half that could.
    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.session.write(self.number, |channel| {
            channel.close();
            Poll::Ready(Ok(()))
        })
    }
}

impl Drop for DialStream {
    fn drop(&mut self) {
        self.session.drop_stream(self.number);
    }
}
