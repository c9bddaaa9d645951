//! Writing a log. It accepts whatever comes: past its bound, or when the disk is full, the rest
//! goes through a ring in memory, so that the source of the output never waits and the end is kept.

use std::collections::VecDeque;
use std::io::{self, Write};

use super::frame::{FRAME_BYTES_MAX, HEADER_BYTES, Header, INDEX_STEP, Kind, Stream};

/// Bytes that are kept of the end when a log has reached its bound.
pub const TAIL_BYTES: usize = 1 << 20;

/// Cost of a frame in the ring besides its bytes.
const FRAME_COST: usize = 64;

/// Within this time, what a stream writes becomes one frame: a program may write byte by byte.
const MERGE_US: u64 = 10_000;

/// Most bytes of a frame in the ring, which loses whole frames, unless they came as one.
const TAIL_FRAME_BYTES: usize = 4 << 10;

/// Bytes that are gathered before they are written.
const BUFFER_BYTES: usize = 128 << 10;

/// A log that is being written.
#[derive(Debug)]
pub struct Writer<L, I> {
    log: L,
    index: I,
    /// Frames that have not been written out yet.
    buffer: Vec<u8>,
    /// The last frame, as long as more may become part of it.
    open: Option<Open>,
    /// Bytes of all frames so far, headers included: where the next one begins in the log.
    place: u64,
    /// Bytes of output so far, not counting dropped ones.
    offset: u64,
    /// Bytes of output that have certainly been written.
    safe: u64,
    /// Bytes of the log that have.
    safe_place: u64,
    cap: u64,
    next_entry: u64,
    entries: Vec<u8>,
    tail: Option<Tail>,
    error: Option<io::Error>,
}

/// A frame to which more may be added.
#[derive(Debug)]
struct Open {
    source: Source,
    /// Where its first byte is among all bytes of output.
    offset: u64,
    bytes: Vec<u8>,
}

/// When and by what something was written.
#[derive(Debug, Clone, Copy)]
struct Source {
    time_us: u64,
    stream: Stream,
    step: u16,
}

impl Source {
    /// Whether what was written later, or at once, may be in the same frame.
    fn joins(self, later: Self) -> bool {
        let is_soon = later.time_us.saturating_sub(self.time_us) <= MERGE_US;
        self.stream == later.stream && self.step == later.step && is_soon
    }
}

/// The end of the output that came after the bound was reached.
#[derive(Debug, Default)]
struct Tail {
    frames: VecDeque<(Source, Vec<u8>)>,
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
    /// Bytes that the log has on the disk, without its index.
    pub disk_bytes: u64,
    /// Why writing stopped before the bound, if it did.
    pub error: Option<io::Error>,
}

impl<L: Write, I: Write> Writer<L, I> {
    /// A new log, and its index, of at most `cap` bytes on the disk and a tail.
    pub fn new(log: L, index: I, cap: u64) -> Self {
        Self {
            log,
            index,
            buffer: Vec::with_capacity(BUFFER_BYTES + FRAME_BYTES_MAX),
            open: None,
            place: 0,
            offset: 0,
            safe: 0,
            safe_place: 0,
            cap,
            next_entry: 0,
            entries: Vec::new(),
            tail: None,
            error: None,
        }
    }

    /// Appends what `stream` of `step` wrote at `time_us`. Readers see it after [`flush`](Self::flush)
    /// at the latest. What a stream writes within a few milliseconds has the time of its first byte.
    pub fn push(&mut self, time_us: u64, stream: Stream, step: u16, bytes: &[u8]) {
        let source = Source {
            time_us,
            stream,
            step,
        };
        let rest = match self.tail {
            None => self.append(source, bytes, self.cap),
            Some(_) => bytes,
        };
        if !rest.is_empty() {
            self.close();
            self.tail.get_or_insert_default().push(source, rest);
        }
    }

    /// Writes out what was gathered, for followers.
    pub fn flush(&mut self) {
        self.close();
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
                self.place += HEADER_BYTES as u64;
                self.write_frame(&header, &[]);
            }
            for (source, bytes) in tail.frames {
                self.append(source, &bytes, u64::MAX);
            }
            self.flush();
        }
        Summary {
            bytes: self.safe,
            dropped: all - self.safe,
            disk_bytes: self.safe_place,
            error: self.error,
        }
    }

    /// Appends as much as fits into `most` bytes on the disk. What does not.
    fn append<'b>(&mut self, source: Source, mut bytes: &'b [u8], most: u64) -> &'b [u8] {
        while !bytes.is_empty() {
            let is_joined = self.open.as_ref().is_some_and(|open| {
                open.bytes.len() < FRAME_BYTES_MAX && open.source.joins(source)
            });
            let header = if is_joined { 0 } else { HEADER_BYTES as u64 };
            let left = most.saturating_sub(self.place.saturating_add(header));
            if left == 0 {
                break;
            }
            if !is_joined {
                self.begin(source);
            }
            let Some(open) = &mut self.open else { break };
            let len = bytes
                .len()
                .min(FRAME_BYTES_MAX - open.bytes.len())
                .min(usize::try_from(left).unwrap_or(usize::MAX));
            let (part, rest) = bytes.split_at(len);
            open.bytes.extend_from_slice(part);
            self.offset += len as u64;
            self.place += len as u64;
            bytes = rest;
        }
        bytes
    }

    /// Begins a frame.
    fn begin(&mut self, source: Source) {
        self.close();
        if self.offset >= self.next_entry {
            self.entries.extend(self.offset.to_le_bytes());
            self.entries.extend(self.place.to_le_bytes());
            self.next_entry = (self.offset / INDEX_STEP + 1) * INDEX_STEP;
        }
        self.place += HEADER_BYTES as u64;
        self.open = Some(Open {
            source,
            offset: self.offset,
            bytes: Vec::new(),
        });
    }

    /// Ends the frame that is open.
    fn close(&mut self) {
        let Some(Open {
            source,
            offset,
            bytes,
        }) = self.open.take()
        else {
            return;
        };
        let header = Header {
            len: bytes.len(),
            step: source.step,
            stream: source.stream,
            kind: Kind::Output,
            time_us: source.time_us,
            offset,
        };
        self.write_frame(&header, &bytes);
    }

    fn write_frame(&mut self, header: &Header, bytes: &[u8]) {
        let header = header.encode(bytes);
        self.buffer.extend_from_slice(&header);
        self.buffer.extend_from_slice(bytes);
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
            (self.safe, self.safe_place) = (self.offset, self.place);
        }
        self.buffer.clear();
        self.entries.clear();
    }
}

impl Tail {
    fn push(&mut self, source: Source, bytes: &[u8]) {
        for part in bytes.chunks(FRAME_BYTES_MAX) {
            match self.frames.back_mut() {
                Some((first, bytes))
                    if bytes.len() + part.len() <= TAIL_FRAME_BYTES && first.joins(source) =>
                {
                    bytes.extend_from_slice(part);
                    self.cost += part.len();
                }
                _ => {
                    self.cost += part.len() + FRAME_COST;
                    self.frames.push_back((source, part.to_vec()));
                }
            }
            self.shorten();
        }
    }

    /// Drops the oldest frames that are too much.
    fn shorten(&mut self) {
        while self.cost > TAIL_BYTES {
            let Some((_, gone)) = self.frames.pop_front() else {
                return;
            };
            self.cost -= gone.len() + FRAME_COST;
            self.dropped += gone.len() as u64;
        }
    }

    fn bytes(&self) -> u64 {
        self.frames
            .iter()
            .map(|(_, bytes)| bytes.len() as u64)
            .sum()
    }
}
