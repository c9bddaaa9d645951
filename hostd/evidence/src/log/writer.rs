//! Writing a log. It accepts whatever comes: past its bound, or when the disk is full, the rest
//! goes through a ring in memory, so that the source of the output never waits and the end is kept.

use std::collections::VecDeque;
use std::io::{self, Write};

use super::frame::{FRAME_BYTES_MAX, Header, INDEX_STEP, Kind, Stream};

/// Bytes that are kept of the end when a log has reached its bound.
pub const TAIL_BYTES: usize = 1 << 20;

/// Cost of a frame in the ring besides its bytes.
const FRAME_COST: usize = 64;

/// Bytes that are gathered before they are written.
const BUFFER_BYTES: usize = 128 << 10;

/// A log that is being written.
#[derive(Debug)]
pub struct Writer<L, I> {
    log: L,
    index: I,
    /// Frames that have not been written out yet.
    buffer: Vec<u8>,
    /// Where the next frame begins in the log.
    place: u64,
    /// Bytes of output so far, not counting dropped ones.
    offset: u64,
    /// Bytes of output that have certainly been written.
    safe: u64,
    cap: u64,
    next_entry: u64,
    entries: Vec<u8>,
    tail: Option<Tail>,
    error: Option<io::Error>,
}

/// The end of the output that came after the bound was reached.
#[derive(Debug, Default)]
struct Tail {
    frames: VecDeque<(u64, Stream, u16, Vec<u8>)>,
    cost: usize,
    dropped: u64,
}

/// The result of writing a log.
#[derive(Debug)]
pub struct Summary {
    /// Bytes of output in it.
    pub bytes: u64,
    /// Bytes of output that it lacks.
    pub dropped: u64,
    /// Why writing stopped before the bound, if it did.
    pub error: Option<io::Error>,
}

impl<L: Write, I: Write> Writer<L, I> {
    /// A new log, and its index, with at most `cap` bytes of output and a tail.
    pub fn new(log: L, index: I, cap: u64) -> Self {
        Self {
            log,
            index,
            buffer: Vec::with_capacity(BUFFER_BYTES + FRAME_BYTES_MAX),
            place: 0,
            offset: 0,
            safe: 0,
            cap,
            next_entry: 0,
            entries: Vec::new(),
            tail: None,
            error: None,
        }
    }

    /// Appends what `stream` of `step` wrote at `time_us`. Readers see it after [`flush`](Self::flush)
    /// at the latest.
    pub fn push(&mut self, time_us: u64, stream: Stream, step: u16, mut bytes: &[u8]) {
        if self.tail.is_none() {
            let left = usize::try_from(self.cap - self.offset).unwrap_or(usize::MAX);
            let (fits, rest) = bytes.split_at(bytes.len().min(left));
            for part in fits.chunks(FRAME_BYTES_MAX) {
                self.append(time_us, stream, step, part);
            }
            bytes = rest;
        }
        if bytes.is_empty() {
            return;
        }
        let tail = self.tail.get_or_insert_default();
        for part in bytes.chunks(FRAME_BYTES_MAX) {
            tail.push(time_us, stream, step, part);
        }
    }

    /// Writes out what was gathered, for followers.
    pub fn flush(&mut self) {
        self.write_out();
        if self.error.is_none() {
            self.error = self.log.flush().and_then(|()| self.index.flush()).err();
        }
        if self.error.is_some() {
            self.tail.get_or_insert_default();
        }
    }

    /// Ends the log: a note says how much is missing, and the kept end of the output follows it.
    pub fn finish(mut self) -> Summary {
        self.flush();
        let tail = self.tail.take().unwrap_or_default();
        let all = self.offset + tail.dropped + tail.bytes();
        if self.error.is_none() {
            if tail.dropped > 0 {
                let header = Header {
                    len: 0,
                    step: 0,
                    stream: Stream::Server,
                    kind: Kind::Dropped,
                    time_us: tail.dropped,
                    offset: self.offset,
                };
                self.write_frame(&header, &[]);
            }
            for (time_us, stream, step, bytes) in tail.frames {
                self.append(time_us, stream, step, &bytes);
            }
            self.flush();
        }
        Summary {
            bytes: self.safe,
            dropped: all - self.safe,
            error: self.error,
        }
    }

    fn append(&mut self, time_us: u64, stream: Stream, step: u16, bytes: &[u8]) {
        if self.offset >= self.next_entry {
            self.entries.extend(self.offset.to_le_bytes());
            self.entries.extend(self.place.to_le_bytes());
            self.next_entry = (self.offset / INDEX_STEP + 1) * INDEX_STEP;
        }
        let header = Header {
            len: bytes.len(),
            step,
            stream,
            kind: Kind::Output,
            time_us,
            offset: self.offset,
        };
        self.offset += bytes.len() as u64;
        self.write_frame(&header, bytes);
    }

    fn write_frame(&mut self, header: &Header, bytes: &[u8]) {
        let header = header.encode(bytes);
        self.buffer.extend_from_slice(&header);
        self.buffer.extend_from_slice(bytes);
        self.place += (header.len() + bytes.len()) as u64;
        if self.buffer.len() >= BUFFER_BYTES {
            self.write_out();
        }
    }

    /// The log first, so that an entry of the index leads to a frame that exists.
    fn write_out(&mut self) {
        if self.error.is_none() {
            let log = self.log.write_all(&self.buffer);
            self.error = log.and_then(|()| self.index.write_all(&self.entries)).err();
        }
        if self.error.is_some() {
            self.tail.get_or_insert_default();
        } else {
            self.safe = self.offset;
        }
        self.buffer.clear();
        self.entries.clear();
    }
}

impl Tail {
    fn push(&mut self, time_us: u64, stream: Stream, step: u16, bytes: &[u8]) {
        self.cost += bytes.len() + FRAME_COST;
        self.frames
            .push_back((time_us, stream, step, bytes.to_vec()));
        while self.cost > TAIL_BYTES {
            let Some((.., gone)) = self.frames.pop_front() else {
                return;
            };
            self.cost -= gone.len() + FRAME_COST;
            self.dropped += gone.len() as u64;
        }
    }

    fn bytes(&self) -> u64 {
        self.frames
            .iter()
            .map(|(.., bytes)| bytes.len() as u64)
            .sum()
    }
}
