//! Inflates the samples through reused buffers, ahead of their consumer.
//!
//! Entries that are mostly runs are inflated by our own code, which passes runs on as such. Others of
//! ordinary size are inflated whole by libdeflate, which is faster than zlib-rs. Both go side by side,
//! and beside their consumer. Large entries (a version 1 file has all its samples in one) are
//! streamed, by zlib-rs where they are not mostly runs, on a thread that is a few blocks ahead.

mod ahead;
mod buffer;
mod seam;
mod stream;

use super::runs::RESERVE;
use super::zip::Entry;
use super::{Limits, Piece, PieceVisitor, SrError};
use buffer::{Buffer, has_ratio, is_runs};
use rayon::prelude::*;
use seam::Seam;
use std::ops::ControlFlow;
use stream::STREAM_BLOCK;

/// Largest entry that is inflated in one go, in bytes. sigrok writes 4 or 10 MiB.
const WHOLE_MAX: u64 = 16 << 20;

/// Bytes inflated ahead: with as many being processed, the memory that a capture costs.
const AHEAD_MAX: u64 = 22 << 20;

/// From this many bytes per packed byte on, it pays to stream an entry of one-byte samples.
const BYTES_RATIO: u64 = 100;

/// Inflates the metadata entry.
pub(super) fn metadata(entry: &Entry<'_>, limits: &Limits) -> Result<Vec<u8>, SrError> {
    if entry.size > limits.metadata_bytes_max {
        let (bytes, limit) = (entry.size, limits.metadata_bytes_max);
        return Err(SrError::TooLarge { bytes, limit });
    }
    let mut buffer = Buffer::default();
    buffer.inflate(entry, 1)?;
    Ok(buffer.pieces().flat_map(expanded).collect())
}

/// All bytes of a piece.
fn expanded(piece: Piece<'_>) -> impl Iterator<Item = u8> {
    let (samples, times) = match piece {
        Piece::Samples(samples) => (samples, 1),
        Piece::Repeated { samples, times } => (samples, times),
    };
    (0..times).flat_map(move |_| samples.iter().copied())
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

    pub(super) fn visit(mut self, visitor: PieceVisitor<'_>) -> Result<ControlFlow<()>, SrError> {
        let mut seam = Seam::new(self.unit);
        while !self.waiting.is_empty() {
            let streamed = self
                .waiting
                .iter()
                .take_while(|entry| is_streamed(entry, self.unit));
            let (streamed, rest) = self.waiting.split_at(streamed.count());
            let flow = if streamed.is_empty() {
                self.visit_batches(&mut seam, visitor)?
            } else {
                self.waiting = rest;
                ahead::visit(streamed, self.unit, &mut seam, visitor)?
            };
            if flow.is_break() {
                return Ok(flow);
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Inflates entries whole: the next ones while the current ones are being processed.
    fn visit_batches(
        &mut self,
        seam: &mut Seam,
        visitor: PieceVisitor<'_>,
    ) -> Result<ControlFlow<()>, SrError> {
        let mut now = Batch::default();
        let mut next = Batch::default();
        self.fill(&mut now)?;
        while now.filled > 0 {
            let mut look = || seam.show(&now.buffers[..now.filled], visitor);
            let is_last = self.next_count() == 0;
            let (flow, filled) = match is_last {
                true => {
                    next.filled = 0;
                    (look(), Ok(()))
                }
                false => rayon::join(look, || self.fill(&mut next)),
            };
            if flow.is_break() {
                return Ok(flow);
            }
            filled?;
            std::mem::swap(&mut now, &mut next);
        }
        Ok(ControlFlow::Continue(()))
    }

    /// How many entries are inflated next: one per thread as far as memory allows; none if the next one is streamed or
    /// everything has been read.
    fn next_count(&self) -> usize {
        let mut bytes = 0;
        let fits = |entry: &&Entry<'_>| {
            bytes += entry.size;
            !is_streamed(entry, self.unit) && bytes <= AHEAD_MAX
        };
        let threads = rayon::current_num_threads();
        self.waiting.iter().take(threads).take_while(fits).count()
    }

    /// Inflates the next entries.
    fn fill(&mut self, batch: &mut Batch) -> Result<(), SrError> {
        let (entries, rest) = self.waiting.split_at(self.next_count());
        self.waiting = rest;
        batch.make_room(entries);
        let unit = self.unit;
        match (batch.buffers.as_mut_slice(), entries) {
            ([buffer, ..], [entry]) => buffer.inflate(entry, unit),
            (buffers, entries) => {
                let pairs = buffers.par_iter_mut().zip(entries);
                pairs.try_for_each(|(buffer, entry)| buffer.inflate(entry, unit))
            }
        }
    }
}

/// Whether an entry goes through small buffers rather than being inflated whole: if it is too large, or if it has so many runs
/// that it pays to look at them before they leave the cache. zlib-rs writes those of bytes as fast as libdeflate, others not.
fn is_streamed(entry: &Entry<'_>, unit: usize) -> bool {
    let is_quick = is_runs(entry) || unit == 1 && has_ratio(entry, BYTES_RATIO);
    entry.size > WHOLE_MAX || is_quick && entry.size > 4 * STREAM_BLOCK as u64
}

impl Batch {
    /// Has a buffer for each of some entries. What buffers keep of longer ones does not add up.
    fn make_room(&mut self, entries: &[Entry<'_>]) {
        let count = entries.len();
        self.filled = count;
        self.buffers
            .resize_with(self.buffers.len().max(count), Buffer::default);
        let mut entries = entries.iter();
        let kept = self.buffers.iter().map(|buffer| {
            let needed = entries.next().map_or(0, |entry| entry.size);
            needed.max(buffer.bytes_len())
        });
        let kept: u64 = kept.map(|bytes| bytes.saturating_sub(RESERVE)).sum();
        if kept > AHEAD_MAX {
            self.buffers.fill_with(Buffer::default);
        }
    }
}

#[cfg(test)]
mod tests;
