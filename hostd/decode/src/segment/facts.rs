//! What a segment's index says of each block, so that one in which a channel rests is passed over without a look at it.
//!
//! ```text
//! per block: levels before it that the counts do not explain varint (0 but for the first block)
//!            channels that toggle in it varint (bit i: channel i), toggles of each of these varint
//! ```
//!
//! In files of packs this follows its length as a varint, and is packed with zstd where that makes it shorter.

use super::{CHANNELS_MAX, SegmentError};
use crate::varint;
use std::borrow::Cow;
use zstd::bulk;

/// zstd level: an index is small.
const LEVEL: i32 = 12;

/// Longest notes of a block, in bytes: two bitmaps of channels, and no count that needs more than three.
const BLOCK_BYTES_MAX: usize = 20 + CHANNELS_MAX * 3;

/// What is known of one block.
#[derive(Clone, Copy, Debug)]
struct Fact {
    /// Levels before the first sample.
    levels: u64,
    /// Channels that toggle.
    moving: u64,
    /// Where the counts of these begin.
    counts_at: usize,
}

/// What is known of all blocks.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    blocks: Vec<Fact>,
    counts: Vec<u32>,
}

impl Facts {
    /// Reads the notes of `blocks`, which have these numbers of samples.
    pub(super) fn parse(
        notes: &[u8],
        blocks: impl ExactSizeIterator<Item = u32>,
    ) -> Result<Self, SegmentError> {
        let damaged = || SegmentError::Damaged { what: "the index" };
        let mut rest = notes;
        let mut facts = Self {
            blocks: Vec::with_capacity(blocks.len()),
            counts: Vec::new(),
        };
        let mut levels = 0;
        for samples in blocks {
            levels ^= varint::take(&mut rest).ok_or_else(damaged)?;
            let moving = varint::take(&mut rest).ok_or_else(damaged)?;
            let counts_at = facts.counts.len();
            facts.blocks.push(Fact {
                levels,
                moving,
                counts_at,
            });
            let mut left = moving;
            while left != 0 {
                let count = varint::take(&mut rest).and_then(|count| u32::try_from(count).ok());
                let count = count.filter(|count| (1..=samples).contains(count));
                let count = count.ok_or_else(damaged)?;
                facts.counts.push(count);
                levels ^= u64::from(count & 1) << left.trailing_zeros();
                left &= left - 1;
            }
        }
        rest.is_empty().then_some(facts).ok_or_else(damaged)
    }

    /// What `Noting::finish` made of the notes of so many blocks.
    pub(super) fn unpack(bytes: &[u8], blocks: usize) -> Result<Cow<'_, [u8]>, SegmentError> {
        let damaged = || SegmentError::Damaged { what: "the index" };
        let mut rest = bytes;
        let size = varint::take(&mut rest).and_then(|size| usize::try_from(size).ok());
        let size = size.filter(|size| *size <= blocks * BLOCK_BYTES_MAX);
        let size = size.ok_or_else(damaged)?;
        if rest.len() == size {
            return Ok(Cow::Borrowed(rest));
        }
        let plain = bulk::decompress(rest, size).map_err(|_| damaged())?;
        match plain.len() == size {
            true => Ok(Cow::Owned(plain)),
            false => Err(damaged()),
        }
    }

    /// Toggles of a channel in a block.
    pub(super) fn count(&self, block: usize, channel: usize) -> u32 {
        let fact = &self.blocks[block];
        if fact.moving >> channel & 1 == 0 {
            return 0;
        }
        let before = fact.moving & ((1 << channel) - 1);
        self.counts[fact.counts_at + before.count_ones() as usize]
    }

    /// Level of a channel before a block.
    pub(super) fn level(&self, block: usize, channel: usize) -> bool {
        self.blocks[block].levels >> channel & 1 != 0
    }
}

/// Writes the notes.
#[derive(Debug, Default)]
pub(super) struct Noting {
    /// Levels behind the last block.
    levels: u64,
    notes: Vec<u8>,
}

impl Noting {
    /// Adds a block.
    pub(super) fn add(&mut self, levels: u64, counts: &[u32]) {
        debug_assert!(counts.len() <= CHANNELS_MAX);
        let notes = &mut self.notes;
        varint::push(notes, levels ^ self.levels);
        let (mut moving, mut odd) = (0, 0);
        for (channel, &count) in counts.iter().enumerate() {
            moving |= u64::from(count != 0) << channel;
            odd |= u64::from(count & 1) << channel;
        }
        varint::push(notes, moving);
        for &count in counts.iter().filter(|&&count| count != 0) {
            varint::push(notes, count.into());
        }
        self.levels = levels ^ odd;
    }
    /// What the index says.
    pub(super) fn finish(self) -> Vec<u8> {
        let mut bytes = Vec::new();
        varint::push(&mut bytes, self.notes.len() as u64);
        let packed = bulk::compress(&self.notes, LEVEL);
        let packed = packed.expect("memory for one index is all it takes");
        bytes.extend(match packed.len() < self.notes.len() {
            true => packed,
            false => self.notes,
        });
        bytes
    }
}
