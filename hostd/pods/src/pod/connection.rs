//! A connection together with the permit for it, since a pod has few.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use pod_protocol::connection::BoxedStream;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::OwnedSemaphorePermit;

/// Gives its permit back when it is dropped.
pub(super) struct Connection {
    stream: BoxedStream,
    // After the stream: fields are dropped in order.
    _permit: OwnedSemaphorePermit,
}

impl Connection {
    pub(super) fn new(stream: BoxedStream, permit: OwnedSemaphorePermit) -> Self {
        let _permit = permit;
        Self { stream, _permit }
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
