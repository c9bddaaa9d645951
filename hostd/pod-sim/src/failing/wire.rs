//! A pod's connection under its faults: slow, stalled, cut off after a byte, or reset.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use pod_protocol::connection::Stream;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

use super::{Struck, happen};
use crate::faults::{Link, Until};
use crate::shared::Shared;

/// Most bytes read at once over a slow link; fewer if its rate divided by `PARTS_PER_S` is less.
const SLOW_READ_BYTES: usize = 4096;
const PARTS_PER_S: u32 = 50;

/// How a connection ends, shared by both of its ends.
#[derive(Debug, Default)]
pub(crate) struct Fate {
    reset: AtomicBool,
}

impl Fate {
    pub(crate) fn reset(&self) {
        self.reset.store(true, Ordering::Relaxed);
    }

    /// Whether the connection is reset instead of closed.
    pub(crate) fn is_reset(&self) -> bool {
        self.reset.load(Ordering::Relaxed)
    }
}

fn reset_error() -> io::Error {
    io::Error::from(io::ErrorKind::ConnectionReset)
}

/// The pod's end of a connection.
pub(crate) struct Wire<S> {
    stream: S,
    shared: Arc<Shared>,
    fate: Arc<Fate>,
    sent: u64,
    stall: Option<Until>,
    /// When a slow link is free again, in each direction.
    writes_from: Option<Instant>,
    reads_from: Option<Instant>,
    write_pause: Pin<Box<Sleep>>,
    read_pause: Pin<Box<Sleep>>,
    /// The client sent last, so the next bytes are an answer.
    answers: bool,
}

impl<S: Stream> Wire<S> {
    pub(crate) fn new(stream: S, shared: Arc<Shared>, fate: Arc<Fate>) -> Self {
        let now = Instant::now();
        Self {
            stream,
            shared,
            fate,
            sent: 0,
            stall: None,
            writes_from: None,
            reads_from: None,
            write_pause: Box::pin(sleep_until(now)),
            read_pause: Box::pin(sleep_until(now)),
            answers: false,
        }
    }

    /// Triggers the events that are due after the bytes sent so far.
    fn count(&mut self) {
        for event in self.shared.faults.reached(self.sent) {
            let one = Struck {
                fate: &self.fate,
                stall: &mut self.stall,
            };
            happen(&self.shared, event, Instant::now(), Some(one));
        }
    }

    /// The current stall.
    fn stalled(&mut self, now: Instant) -> Option<Until> {
        let stall = self.stall.max(self.shared.faults.stalled());
        stall.filter(|until| *until > Until::Instant(now))
    }

    /// When the next bytes may be sent over a slow link.
    fn write_turn(&mut self, link: Link, now: Instant) -> Option<Instant> {
        if std::mem::take(&mut self.answers) && !link.latency.is_zero() {
            let free = self.writes_from.map_or(now, |from| from.max(now));
            self.writes_from = Some(free + link.latency);
        }
        self.writes_from.filter(|from| *from > now)
    }

    /// How many of `wanted` bytes are sent at once.
    fn portion(&self, wanted: usize, link: Link) -> usize {
        let rate = link.bytes_per_s.map_or(usize::MAX, at_once);
        let next = self.shared.faults.next_count(self.sent);
        let until_next = next.map_or(u64::MAX, |at| at - self.sent);
        wanted
            .min(rate)
            .min(usize::try_from(until_next).unwrap_or(usize::MAX))
    }
}

fn at_once(bytes_per_s: u32) -> usize {
    let bytes = usize::try_from(bytes_per_s / PARTS_PER_S).unwrap_or(SLOW_READ_BYTES);
    bytes.clamp(1, SLOW_READ_BYTES)
}

/// When a link that transfers `bytes` from `now` on is free again.
fn free_at(now: Instant, bytes: usize, link: Link) -> Option<Instant> {
    let rate = link.bytes_per_s?;
    let nanoseconds = u64::try_from(bytes).ok()? * 1_000_000_000 / u64::from(rate);
    Some(now + Duration::from_nanos(nanoseconds))
}

/// Waits for an instant.
fn wait(pause: &mut Pin<Box<Sleep>>, until: Instant, cx: &mut Context<'_>) -> Poll<()> {
    pause.as_mut().reset(until);
    pause.as_mut().poll(cx)
}

impl<S: Stream> AsyncWrite for Wire<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        this.count();
        if this.fate.is_reset() {
            return Poll::Ready(Err(reset_error()));
        }
        let now = Instant::now();
        match this.stalled(now) {
            Some(Until::Ever) => return Poll::Ready(Ok(bytes.len())),
            Some(Until::Instant(end)) => ready!(wait(&mut this.write_pause, end, cx)),
            None => {}
        }
        let link = this.shared.faults.link();
        if let Some(from) = this.write_turn(link, now) {
            ready!(wait(&mut this.write_pause, from, cx));
        }
        let portion = this.portion(bytes.len(), link);
        let written = ready!(Pin::new(&mut this.stream).poll_write(cx, &bytes[..portion]))?;
        this.writes_from = free_at(Instant::now(), written, link);
        this.sent += u64::try_from(written).expect("a length fits in 64 bits");
        this.count();
        Poll::Ready(Ok(written))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}

impl<S: Stream> AsyncRead for Wire<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.fate.is_reset() {
            return Poll::Ready(Err(reset_error()));
        }
        let link = this.shared.faults.link();
        let before = buffer.filled().len();
        let Some(rate) = link.bytes_per_s else {
            ready!(Pin::new(&mut this.stream).poll_read(cx, buffer))?;
            this.answers |= buffer.filled().len() > before;
            return Poll::Ready(Ok(()));
        };
        let now = Instant::now();
        if let Some(from) = this.reads_from.filter(|from| *from > now) {
            ready!(wait(&mut this.read_pause, from, cx));
        }
        let mut bytes = [0; SLOW_READ_BYTES];
        let portion = at_once(rate).min(buffer.remaining());
        let mut part = ReadBuf::new(&mut bytes[..portion]);
        ready!(Pin::new(&mut this.stream).poll_read(cx, &mut part))?;
        buffer.put_slice(part.filled());
        this.reads_from = free_at(Instant::now(), part.filled().len(), link);
        this.answers |= !part.filled().is_empty();
        Poll::Ready(Ok(()))
    }
}

/// The client's end of an in-process connection: it sees a reset as a socket would.
pub(crate) struct Near<S> {
    stream: S,
    fate: Arc<Fate>,
}

impl<S: Stream> Near<S> {
    pub(crate) fn new(stream: S, fate: Arc<Fate>) -> Self {
        Self { stream, fate }
    }
}

impl<S: Stream> AsyncRead for Near<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        ready!(Pin::new(&mut this.stream).poll_read(cx, buffer))?;
        if buffer.filled().len() == before && buffer.remaining() > 0 && this.fate.is_reset() {
            return Poll::Ready(Err(reset_error()));
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: Stream> AsyncWrite for Near<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if this.fate.is_reset() {
            return Poll::Ready(Err(reset_error()));
        }
        Pin::new(&mut this.stream).poll_write(cx, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}
