//! Refuses requests of HTTP/1 that two servers in a row may take for different ones: a line that ends with a bare LF, and
//! `Content-Length` beside `Transfer-Encoding`. The HTTP library reads both, and drops one of the two header fields before
//! anybody could see it; a proxy in front may do otherwise, so that a part of one client's body becomes a request of another.
//!
//! Such a head is made one that the library refuses by itself, on its way there: [`Rejections`](super::rejection) then
//! writes the answer.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Bytes of a line that are looked at: more than the fields that matter ever have.
const LINE_BYTES_MAX: usize = 256;

/// What no line of a head and of a chunk's size may have in it.
const REFUSED: u8 = 0;

/// The first line of a connection that speaks HTTP/2.
const HTTP2: &[u8] = b"PRI * HTTP/2.0";

/// A connection on which requests that can be read in two ways are refused.
#[derive(Debug)]
pub struct Strict<S> {
    stream: S,
    heads: Heads,
    upgraded: Arc<AtomicBool>,
}

/// Where one request ends and the next begins.
#[derive(Debug)]
struct Heads {
    at: At,
    line: Line,
    framing: Framing,
}

/// What comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    /// A request's first line, or empty lines before it.
    Request,
    /// A header field, or the end of the head.
    Field,
    /// So many bytes of a body.
    Body(u64),
    /// The size of a chunk.
    Size,
    /// So many bytes of a chunk.
    Chunk(u64),
    /// The end of a chunk.
    ChunkEnd,
    /// A field behind the body, or the end of the request.
    Trailer,
    /// Nothing of ours: HTTP/2, an upgraded connection, or one that the library ends here.
    Other,
}

/// The beginning of a line that arrives in pieces.
#[derive(Debug, Default)]
struct Line {
    kept: Vec<u8>,
    /// Whether there was more than was kept.
    is_cut: bool,
    last: u8,
}

/// What a head says of its body.
#[derive(Debug, Default)]
struct Framing {
    length: Option<u64>,
    has_length: bool,
    has_encoding: bool,
    is_chunked: bool,
}

impl<S> Strict<S> {
    /// Once `upgraded` is set, everything passes: it is no HTTP any more.
    #[must_use]
    pub fn new(stream: S, upgraded: Arc<AtomicBool>) -> Self {
        Self {
            stream,
            heads: Heads::new(),
            upgraded,
        }
    }
}

impl Heads {
    fn new() -> Self {
        Self {
            at: At::Request,
            line: Line::default(),
            framing: Framing::default(),
        }
    }

    /// Follow what arrives, and spoil it where it must not be taken.
    fn pass(&mut self, mut bytes: &mut [u8]) {
        while !bytes.is_empty() {
            let taken = match self.at {
                At::Other => return,
                At::Body(left) => self.skip(left, bytes.len(), At::Body, At::Request),
                At::Chunk(left) => self.skip(left, bytes.len(), At::Chunk, At::ChunkEnd),
                At::Request | At::Field | At::Size | At::ChunkEnd | At::Trailer => self.read(bytes),
            };
            bytes = &mut bytes[taken..];
        }
    }

    fn skip(&mut self, left: u64, arrived: usize, more: fn(u64) -> At, then: At) -> usize {
        let arrived = arrived as u64;
        self.at = match left.checked_sub(arrived).filter(|left| *left > 0) {
            Some(left) => more(left),
            None => then,
        };
        // Not more than arrived.
        usize::try_from(left.min(arrived)).unwrap_or(usize::MAX)
    }

    /// To the end of the line, or of what there is of it.
    fn read(&mut self, bytes: &mut [u8]) -> usize {
        let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else {
            self.line.take(bytes);
            return bytes.len();
        };
        self.line.take(&bytes[..end]);
        let line = std::mem::take(&mut self.line);
        match self.after(&line) {
            Some(at) => self.at = at,
            None => {
                bytes[end] = REFUSED;
                self.at = At::Other;
            }
        }
        end + 1
    }

    /// What comes after a line; none if the request is to be refused.
    fn after(&mut self, line: &Line) -> Option<At> {
        if line.last != b'\r' {
            return None;
        }
        let is_empty = line.kept == b"\r";
        let text = line.kept.strip_suffix(b"\r").unwrap_or(&line.kept);
        match self.at {
            At::Request if is_empty => Some(At::Request),
            At::Request if text == HTTP2 => Some(At::Other),
            At::Request => {
                self.framing = Framing::default();
                Some(At::Field)
            }
            At::Field if is_empty => self.framing.body(),
            At::Field => self.framing.add(text, line.is_cut).then_some(At::Field),
            At::Size => size(text, line.is_cut),
            At::ChunkEnd if is_empty => Some(At::Size),
            At::Trailer if is_empty => Some(At::Request),
            At::Trailer => Some(At::Trailer),
            At::ChunkEnd | At::Body(_) | At::Chunk(_) | At::Other => Some(At::Other),
        }
    }
}

impl Line {
    fn take(&mut self, piece: &[u8]) {
        let Some(last) = piece.last() else { return };
        self.last = *last;
        let room = LINE_BYTES_MAX - self.kept.len();
        self.is_cut |= piece.len() > room;
        self.kept.extend_from_slice(&piece[..piece.len().min(room)]);
    }
}

impl Framing {
    /// Add a field; false if the request is to be refused.
    fn add(&mut self, line: &[u8], is_cut: bool) -> bool {
        let Some(colon) = line.iter().position(|byte| *byte == b':') else {
            return true;
        };
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        if name.eq_ignore_ascii_case(b"content-length") {
            self.has_length = true;
            self.length = std::str::from_utf8(value).ok().and_then(|v| v.parse().ok());
            return !is_cut;
        }
        if name.eq_ignore_ascii_case(b"transfer-encoding") {
            self.has_encoding = true;
            let last = value.rsplit(|byte| *byte == b',').next();
            self.is_chunked =
                last.is_some_and(|last| last.trim_ascii().eq_ignore_ascii_case(b"chunked"));
            return !is_cut;
        }
        true
    }

    /// What comes after the head; none if the request is to be refused.
    fn body(&self) -> Option<At> {
        match (self.has_length, self.has_encoding) {
            (true, true) => None,
            (false, false) => Some(At::Request),
            // What is neither is refused by the library.
            (false, true) => Some(if self.is_chunked { At::Size } else { At::Other }),
            (true, false) => Some(match self.length {
                Some(0) => At::Request,
                Some(length) => At::Body(length),
                None => At::Other,
            }),
        }
    }
}

/// What comes after the size of a chunk; none if it cannot be read here. The library refuses what is no size.
fn size(line: &[u8], is_cut: bool) -> Option<At> {
    let end = line.iter().position(|byte| !byte.is_ascii_hexdigit());
    if end.is_none() && is_cut {
        return None;
    }
    let digits = std::str::from_utf8(&line[..end.unwrap_or(line.len())]).ok();
    let size = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok());
    Some(match size {
        Some(0) => At::Trailer,
        Some(size) => At::Chunk(size),
        None => At::Other,
    })
}

impl<S: AsyncRead + Unpin> AsyncRead for Strict<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buffer);
        if !self.upgraded.load(Ordering::Relaxed) {
            self.heads.pass(&mut buffer.filled_mut()[before..]);
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Strict<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, parts)
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
