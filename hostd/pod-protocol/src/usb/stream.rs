//! A connection of a link, as its user holds it: bytes both ways.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::channel::Channel;
use super::shared::{self, Shared};

/// One connection over a link. Dropping it closes it, as with TCP: what was written is still sent as far as the other
/// side takes it.
#[derive(Debug)]
pub struct LinkStream {
    pub(super) channel: Arc<Mutex<Channel>>,
    shared: Arc<Shared>,
}

impl LinkStream {
    pub(super) fn new(channel: Arc<Mutex<Channel>>, shared: Arc<Shared>) -> Self {
        Self { channel, shared }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, Channel> {
        shared::lock(&self.channel)
    }
}

impl AsyncRead for LinkStream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = |channel: &mut Channel| channel.poll_read(context, into);
        self.shared.with(&self.channel, read)
    }
}

impl AsyncWrite for LinkStream {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let free = || self.shared.room();
        let written = |channel: &mut Channel| channel.poll_write(context, bytes, free);
        self.shared.with(&self.channel, written)
    }

    /// What was written goes out without being asked.
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.shared.with(&self.channel, Channel::end);
        Poll::Ready(Ok(()))
    }
}

impl Drop for LinkStream {
    fn drop(&mut self) {
        self.shared.with(&self.channel, Channel::drop_stream);
    }
}
