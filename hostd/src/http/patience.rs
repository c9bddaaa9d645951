//! A connection that gives up on a peer that reads nothing: without a limit, a client that stops
//! reading in the middle of an answer would keep its place and its buffers indefinitely.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

/// A stream whose writes fail if none of their bytes are taken for `wait`.
#[derive(Debug)]
pub struct Patience<S> {
    stream: S,
    wait: Duration,
    /// Runs while a write is pending.
    deadline: Option<Pin<Box<Sleep>>>,
    upgraded: Arc<AtomicBool>,
}

impl<S> Patience<S> {
    /// Once `upgraded` is set, there is no limit here: the upgraded protocol has its own.
    #[must_use]
    pub fn new(stream: S, wait: Duration, upgraded: Arc<AtomicBool>) -> Self {
        Self {
            stream,
            wait,
            deadline: None,
            upgraded,
        }
    }

    /// `written`, unless it has been pending for too long.
    fn limit<T>(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() || self.upgraded.load(Ordering::Relaxed) {
            self.deadline = None;
            return written;
        }
        let wait = self.wait;
        let deadline = self
            .deadline
            .get_or_insert_with(|| Box::pin(tokio::time::sleep(wait)));
        ready!(deadline.as_mut().poll(cx));
        self.deadline = None;
        Poll::Ready(Err(io::Error::new(
            io::ErrorKind::TimedOut,
            format!("the client took nothing for {} ms", wait.as_millis()),
        )))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Patience<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patience<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.limit(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, parts);
        self.limit(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(cx);
        self.limit(cx, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    const WAIT: Duration = Duration::from_secs(60);

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_takes_nothing_is_given_up() {
        let (mut peer, stream) = tokio::io::duplex(16);
        let upgraded = Arc::new(AtomicBool::new(false));
        let mut stream = Patience::new(stream, WAIT, upgraded.clone());
        stream.write_all(&[0; 16]).await.unwrap();
        let began = tokio::time::Instant::now();
        let error = stream.write_all(&[0; 16]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert_eq!(began.elapsed().as_secs(), WAIT.as_secs());

        // A slow one is not: each byte it takes restarts the time.
        let slow = tokio::spawn(async move {
            for _ in 0..32 {
                tokio::time::sleep(WAIT - Duration::from_secs(1)).await;
                peer.read_u8().await.unwrap();
            }
            peer
        });
        stream.write_all(&[0; 32]).await.unwrap();
        let peer = slow.await.unwrap();

        upgraded.store(true, Ordering::Relaxed);
        let endless = stream.write_all(&[0; 64]);
        assert!(tokio::time::timeout(WAIT * 9, endless).await.is_err());
        drop(peer);
    }
}
