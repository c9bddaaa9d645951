//! Cuts a connection when an HTTP/2 client keeps the server busy with frames that request nothing:
//! SETTINGS, PING, WINDOW_UPDATE, PRIORITY, RST_STREAM, CONTINUATION, and empty or nearly empty DATA.
//! Each costs the client a few bytes and the server an answer or a look-up, and no other limit counts
//! them.
//!
//! They are weighed against the bytes actually transferred: body bytes received, and everything sent.
//! So a client that sends thousands of acknowledgements for a fast download is never cut.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;

use super::frames::{Frame, Frames};

/// Transferred bytes that pay for one such frame.
const FRAME_COST: u64 = 256;

/// Frames allowed in a burst, before anything is transferred.
const BURST: u64 = 2_000;

/// Sustained frames per second.
const PER_S: u64 = 200;

/// What a client may still send.
#[derive(Debug)]
struct Budget {
    /// In bytes moved.
    left: u64,
    at: Instant,
}

/// A connection that ends on a flood, after calling `cut`.
pub struct Floods<S, F> {
    stream: S,
    frames: Frames,
    budget: Budget,
    cut: F,
}

impl Budget {
    fn new() -> Self {
        Self {
            left: BURST * FRAME_COST,
            at: Instant::now(),
        }
    }

    fn earn(&mut self, bytes: u64) {
        self.left = self.left.saturating_add(bytes).min(BURST * FRAME_COST);
    }

    /// Count a frame. False: it is one too many.
    fn spend(&mut self, frame: Frame) -> bool {
        if frame.is_request() {
            // Requests have limits of their own.
            return true;
        }
        if frame.is_data() {
            self.earn(frame.length.into());
        }
        if self.left < FRAME_COST {
            let passed_us = u64::try_from(self.at.elapsed().as_micros()).unwrap_or(u64::MAX);
            self.at = Instant::now();
            self.earn(passed_us.saturating_mul(PER_S * FRAME_COST) / 1_000_000);
        }
        let left = self.left.checked_sub(FRAME_COST);
        self.left = left.unwrap_or(0);
        left.is_some()
    }
}

impl<S, F> Floods<S, F> {
    #[must_use]
    pub fn new(stream: S, cut: F) -> Self {
        Self {
            stream,
            frames: Frames::default(),
            budget: Budget::new(),
            cut,
        }
    }

    /// Bytes went out.
    fn wrote(&mut self, written: &Poll<io::Result<usize>>) {
        if let Poll::Ready(Ok(bytes)) = written {
            self.budget.earn(*bytes as u64);
        }
    }
}

impl<S: AsyncRead + Unpin, F: Fn() + Unpin> AsyncRead for Floods<S, F> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buffer);
        let Self { frames, budget, .. } = &mut *self;
        let mut fits = true;
        frames.pass(&buffer.filled()[before..], |frame| {
            fits &= budget.spend(frame);
        });
        if fits {
            return read;
        }
        (self.cut)();
        Poll::Ready(Err(io::Error::other(
            "the client floods the connection with HTTP/2 frames that ask for nothing",
        )))
    }
}

impl<S: AsyncWrite + Unpin, F: Unpin> AsyncWrite for Floods<S, F> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.wrote(&written);
        written
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, parts);
        self.wrote(&written);
        written
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests;
