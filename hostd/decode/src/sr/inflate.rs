//! Inflates the samples through reused buffers, a few entries ahead of their consumer.
//!
//! Entries of ordinary size are inflated whole by libdeflate, several at once. On 16-bit captures
//! it is four times as fast as zlib-rs, and most of their decoding time is spent inflating. Large
//! entries (a version 1 file has all its samples in one) are streamed by zlib-rs.

use super::zip::{Entry, Method};
use super::{Limits, SrError, Visitor};
use flate2::{Decompress, FlushDecompress, Status};
use libdeflater::{Crc, Decompressor};
use rayon::prelude::*;
use std::ops::ControlFlow;

/// Largest entry that is inflated in one go, in bytes. sigrok writes 4 or 10 MiB.
const WHOLE_MAX: u64 = 16 << 20;

/// Bytes inflated ahead: together with those being processed, the memory that a capture costs.
const AHEAD_MAX: u64 = 24 << 20;

/// From this many bytes per packed byte on, an entry consists almost entirely of runs.
const RUNS_RATIO: u64 = 100;

/// Bytes of a streamed entry that are inflated at a time: they stay in the second-level cache.
const STREAM_BLOCK: usize = 256 << 10;

/// Inflates the metadata entry.
pub(super) fn metadata(entry: &Entry<'_>, limits: &Limits) -> Result<Vec<u8>, SrError> {
    if entry.size > limits.metadata_bytes_max {
        let (bytes, limit) = (entry.size, limits.metadata_bytes_max);
        return Err(SrError::TooLarge { bytes, limit });
    }
    let mut buffer = Buffer::default();
    buffer.inflate(entry)?;
    Ok(buffer.bytes)
}

/// Memory for one inflated entry, and the state of the decompressor.
#[derive(Default)]
struct Buffer {
    /// Stays as long as the longest entry so far, so that later entries touch no new memory.
    bytes: Vec<u8>,
    used: usize,
    inflater: Option<Decompressor>,
}

impl Buffer {
    fn inflate(&mut self, entry: &Entry<'_>) -> Result<(), SrError> {
        let size = usize::try_from(entry.size).expect("callers bound the size");
        if self.bytes.len() < size {
            self.bytes.resize(size, 0);
        }
        self.used = size;
        let out = &mut self.bytes[..size];
        match entry.method {
            Method::Stored => out.copy_from_slice(entry.packed),
            Method::Deflated => {
                let inflater = self.inflater.get_or_insert_with(Decompressor::new);
                match inflater.deflate_decompress(entry.packed, out) {
                    Ok(written) if written == size => {}
                    Err(libdeflater::DecompressionError::BadData) => {
                        return Err(SrError::Inflate {
                            entry: entry.name.clone(),
                        });
                    }
                    _ => return Err(wrong_size(entry)),
                }
            }
        }
        check(entry, libdeflater::crc32(&self.bytes[..size]))
    }
}

fn wrong_size(entry: &Entry<'_>) -> SrError {
    SrError::WrongSize {
        entry: entry.name.clone(),
        size: entry.size,
    }
}

fn check(entry: &Entry<'_>, crc32: u32) -> Result<(), SrError> {
    if crc32 == entry.crc32 {
        Ok(())
    } else {
        Err(SrError::Checksum {
            entry: entry.name.clone(),
        })
    }
}

/// An entry in the middle of being inflated.
struct Stream<'a> {
    entry: &'a Entry<'a>,
    rest: &'a [u8],
    inflater: Decompress,
    crc: Crc,
    written: u64,
}

impl<'a> Stream<'a> {
    fn new(entry: &'a Entry<'a>) -> Self {
        let inflater = Decompress::new(false);
        Self {
            entry,
            rest: entry.packed,
            inflater,
            crc: Crc::new(),
            written: 0,
        }
    }

    /// Fills `buffer` as far as the entry goes; returns whether it ended.
    fn read(&mut self, buffer: &mut Buffer) -> Result<bool, SrError> {
        if buffer.bytes.len() < STREAM_BLOCK {
            buffer.bytes.resize(STREAM_BLOCK, 0);
        }
        buffer.used = 0;
        let ended = match self.entry.method {
            Method::Stored => self.copy(buffer),
            Method::Deflated => self.inflate(buffer)?,
        };
        self.written += buffer.used as u64;
        self.crc.update(&buffer.bytes[..buffer.used]);
        if self.written > self.entry.size || ended && self.written != self.entry.size {
            return Err(wrong_size(self.entry));
        }
        if ended {
            check(self.entry, self.crc.sum())?;
        }
        Ok(ended)
    }

    fn copy(&mut self, buffer: &mut Buffer) -> bool {
        let (now, later) = self.rest.split_at(self.rest.len().min(STREAM_BLOCK));
        buffer.bytes[..now.len()].copy_from_slice(now);
        buffer.used = now.len();
        self.rest = later;
        later.is_empty()
    }

    fn inflate(&mut self, buffer: &mut Buffer) -> Result<bool, SrError> {
        let damaged = || SrError::Inflate {
            entry: self.entry.name.clone(),
        };
        while buffer.used < STREAM_BLOCK {
            let (read, written) = (self.inflater.total_in(), self.inflater.total_out());
            let out = &mut buffer.bytes[buffer.used..STREAM_BLOCK];
            let status = self
                .inflater
                .decompress(self.rest, out, FlushDecompress::None);
            let status = status.map_err(|_| damaged())?;
            let read = usize::try_from(self.inflater.total_in() - read);
            let written = usize::try_from(self.inflater.total_out() - written);
            let read = read.expect("no more than the input");
            let written = written.expect("no more than the buffer");
            self.rest = &self.rest[read..];
            buffer.used += written;
            if status == Status::StreamEnd {
                return Ok(true);
            }
            if read == 0 && written == 0 {
                return Err(damaged());
            }
        }
        Ok(false)
    }
}

/// Buffers filled together.
#[derive(Default)]
struct Batch {
    buffers: Vec<Buffer>,
    filled: usize,
}

/// The samples of an archive, being read.
pub(super) struct Source<'a> {
    waiting: &'a [Entry<'a>],
    /// Bytes per sample.
    unit: usize,
}

impl<'a> Source<'a> {
    pub(super) fn new(entries: &'a [Entry<'a>], unit: usize) -> Self {
        Self {
            waiting: entries,
            unit,
        }
    }

    pub(super) fn visit(mut self, visitor: Visitor<'_>) -> Result<ControlFlow<()>, SrError> {
        let mut seam = Seam::new(self.unit);
        while let Some((entry, rest)) = self.waiting.split_first() {
            let flow = if self.is_streamed(entry) {
                self.waiting = rest;
                visit_stream(entry, &mut seam, visitor)?
            } else {
                self.visit_batches(&mut seam, visitor)?
            };
            if flow.is_break() {
                return Ok(flow);
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Whether an entry goes through a small buffer rather than being inflated whole: if it is too
    /// large, or consists almost entirely of runs of one-byte samples. zlib-rs inflates those as
    /// fast as libdeflate, and then it pays to process them before they leave the cache.
    fn is_streamed(&self, entry: &Entry<'_>) -> bool {
        let is_runs = self.unit == 1 && entry.size / RUNS_RATIO > entry.packed.len() as u64;
        entry.size > WHOLE_MAX || is_runs && entry.size > 4 * STREAM_BLOCK as u64
    }

    /// Inflates entries whole: the next ones while the current ones are being processed.
    fn visit_batches(
        &mut self,
        seam: &mut Seam,
        visitor: Visitor<'_>,
    ) -> Result<ControlFlow<()>, SrError> {
        let mut now = Batch::default();
        let mut next = Batch::default();
        self.fill(&mut now)?;
        while now.filled > 0 {
            let look = || seam.show(&now.buffers[..now.filled], visitor);
            let (flow, filled) = rayon::join(look, || self.fill(&mut next));
            if flow.is_break() {
                return Ok(flow);
            }
            filled?;
            std::mem::swap(&mut now, &mut next);
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Inflates the next entries, one per thread as far as memory allows; none if the next one is
    /// streamed or everything has been read.
    fn fill(&mut self, batch: &mut Batch) -> Result<(), SrError> {
        let mut bytes = 0;
        let fits = |entry: &&Entry<'_>| {
            bytes += entry.size;
            !self.is_streamed(entry) && bytes <= AHEAD_MAX
        };
        let threads = rayon::current_num_threads();
        let count = self.waiting.iter().take(threads).take_while(fits).count();
        let (entries, rest) = self.waiting.split_at(count);
        self.waiting = rest;
        batch
            .buffers
            .resize_with(batch.buffers.len().max(count), Buffer::default);
        batch.filled = count;
        let pairs = batch.buffers.par_iter_mut().zip(entries);
        pairs.try_for_each(|(buffer, entry)| buffer.inflate(entry))
    }
}

/// Inflates an entry through one small buffer.
fn visit_stream(
    entry: &Entry<'_>,
    seam: &mut Seam,
    visitor: Visitor<'_>,
) -> Result<ControlFlow<()>, SrError> {
    let mut stream = Stream::new(entry);
    let mut buffer = Buffer::default();
    loop {
        let ended = stream.read(&mut buffer)?;
        let flow = seam.show(std::slice::from_ref(&buffer), visitor);
        if ended || flow.is_break() {
            return Ok(flow);
        }
    }
}

/// Reassembles samples that are split between two blocks. sigrok does not split samples, but
/// nothing in the format forbids it.
struct Seam {
    unit: usize,
    held: Vec<u8>,
}

impl Seam {
    fn new(unit: usize) -> Self {
        Self {
            unit,
            held: Vec::with_capacity(unit),
        }
    }

    fn show(&mut self, buffers: &[Buffer], visitor: Visitor<'_>) -> ControlFlow<()> {
        for buffer in buffers {
            let mut raw = &buffer.bytes[..buffer.used];
            if !self.held.is_empty() {
                let (missing, rest) = raw.split_at(raw.len().min(self.unit - self.held.len()));
                self.held.extend_from_slice(missing);
                raw = rest;
                if self.held.len() < self.unit {
                    continue;
                }
                visitor(&self.held)?;
                self.held.clear();
            }
            let (whole, rest) = raw.split_at(raw.len() / self.unit * self.unit);
            if !whole.is_empty() {
                visitor(whole)?;
            }
            self.held.extend_from_slice(rest);
        }
        ControlFlow::Continue(())
    }
}
