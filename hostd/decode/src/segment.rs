//! Stored logic captures: the distances between each channel's toggles.
//!
//! A segment consists of blocks of about a million samples. A block records the level of every
//! channel before its first sample, and where each channel toggles: as varint distances packed with
//! zstd, as a packed bit plane if a channel toggles all the time, or nothing if it never does. That
//! is about seven times smaller than `.sr`, and decoders read it faster than raw samples, since
//! nothing between two edges has to be looked at. The index says how often each channel toggles in
//! each block, so that look-ups ([`Line`]) pass over blocks in which it rests.

mod block;
mod changes;
mod edges;
mod encoder;
mod error;
mod facts;
mod glitches;
mod group;
mod lane;
mod line;
mod reader;

pub use edges::Edges;
pub use encoder::{Encoder, EncoderError, EncoderSpec, SAMPLES_MAX};
pub use error::SegmentError;
pub use line::{Edge, Line, Pulse, Pulses, Seen, Toggles};
pub use reader::Reader;

use crate::container::{Container, Content};
use block::Block;
pub(crate) use changes::Changes;
use facts::Facts;
pub(crate) use lane::Lane;

/// Samples in a full block.
pub const BLOCK_SAMPLES: u32 = 1 << 20;

/// Maximum number of channels in a segment.
pub const CHANNELS_MAX: usize = 64;

/// A stored capture. Header and index have been checked; blocks are checked when they are read.
#[derive(Clone, Debug)]
pub struct Segment<'a> {
    container: Container<'a>,
    /// None in files that were written before there were any, and where the index is missing.
    facts: Option<Facts>,
}

impl<'a> Segment<'a> {
    /// Opens a complete segment.
    ///
    /// # Errors
    /// The bytes are not a segment, or the segment is damaged or unfinished.
    pub fn open(bytes: &'a [u8]) -> Result<Self, SegmentError> {
        Self::check(Container::open(bytes, Content::Logic, BLOCK_SAMPLES)?)
    }

    /// Opens a segment whose writer died, up to its last complete block.
    ///
    /// # Errors
    /// The header is missing or damaged.
    pub fn recover(bytes: &'a [u8]) -> Result<Self, SegmentError> {
        Self::check(Container::recover(bytes, Content::Logic, BLOCK_SAMPLES)?)
    }

    fn check(container: Container<'a>) -> Result<Self, SegmentError> {
        if !(1..=CHANNELS_MAX as u64).contains(&container.channels.into()) {
            return Err(SegmentError::Damaged {
                what: "the number of channels",
            });
        }
        let blocks = container.blocks.iter().map(|block| block.samples);
        let facts = container.notes.map(|notes| Facts::parse(notes, blocks));
        let facts = facts.transpose()?;
        Ok(Self { container, facts })
    }

    /// Channels, 1..=64.
    pub fn channels(&self) -> usize {
        self.container.channels as usize
    }

    /// Samples per second.
    pub fn sample_rate_hz(&self) -> f64 {
        self.container.sample_rate_hz
    }

    /// Length in samples.
    pub fn samples(&self) -> u64 {
        self.container.samples()
    }

    /// Level of a channel at a sample; past the end, the last level.
    ///
    /// # Errors
    /// The block that holds the sample is damaged, or there is no such channel.
    pub fn level_at(&self, channel: usize, sample: u64) -> Result<bool, SegmentError> {
        self.line(channel)?.level_at(sample)
    }

    /// The samples in `from..to` at which a channel's level differs from that in the sample before.
    pub fn toggles(&self, channel: usize, from: u64, to: u64) -> Toggles<'_> {
        Toggles::new(self, channel, from, to)
    }

    /// The samples in `from..to` at which any of the channels changes, with the levels from that
    /// sample on: bit `i` is the `i`-th of `channels`.
    pub fn edges<'s>(&'s self, channels: &'s [usize], from: u64, to: u64) -> Edges<'s> {
        Edges::new(self, channels, from, to)
    }

    /// Number of stored blocks.
    pub(crate) fn block_count(&self) -> usize {
        self.container.blocks.len()
    }

    /// Samples of a block.
    pub(crate) fn block_samples(&self, index: usize) -> u32 {
        self.container.blocks[index].samples
    }

    /// First sample of a block.
    pub(crate) fn block_start(&self, index: usize) -> u64 {
        self.container.blocks[index].start
    }

    /// Numbers of the blocks that have samples in `from..to`.
    pub(crate) fn blocks_in(&self, from: u64, to: u64) -> std::ops::Range<usize> {
        let blocks = &self.container.blocks;
        self.container.find(from)..blocks.partition_point(|block| block.start < to)
    }

    /// A block whose checksum has been verified.
    pub(crate) fn block(&self, index: usize) -> Result<Block<'_>, SegmentError> {
        Block::parse(&self.container.blocks[index], self.channels())
    }

    /// A reader for decoders.
    pub(crate) fn reader(&self, lanes: &[Option<usize>]) -> Reader<'_> {
        Reader::new(self, lanes)
    }

    /// The changes of up to eight channels, for decoders from elsewhere.
    pub(crate) fn changes(&self, channels: &[Option<usize>]) -> Changes<'_> {
        Changes::new(self, channels)
    }

    pub(crate) fn check_channel(&self, channel: usize) -> Result<(), SegmentError> {
        if channel < self.channels() {
            Ok(())
        } else {
            Err(SegmentError::NoChannel {
                channel,
                channels: self.channels(),
            })
        }
    }
}
