//! Stored logic captures: the distances between each channel's toggles.
//!
//! A segment consists of blocks of about a million samples. A block records the level of every
//! channel before its first sample, and where each channel toggles: as varint distances packed with
//! zstd, as a packed bit plane if a channel toggles all the time, or nothing if it never does. That
//! is about seven times smaller than `.sr`, and decoders read it faster than raw samples, since
//! nothing between two edges has to be looked at.

mod block;
mod changes;
mod encoder;
mod error;
mod reader;
mod toggles;

pub use encoder::{Encoder, EncoderError, EncoderSpec, SAMPLES_MAX};
pub use error::SegmentError;
pub use reader::Reader;
pub use toggles::{Edges, Toggles};

use crate::container::{Container, Content};
use block::Block;
pub(crate) use changes::Changes;

/// Samples in a full block.
pub const BLOCK_SAMPLES: u32 = 1 << 20;

/// Maximum number of channels in a segment.
pub const CHANNELS_MAX: usize = 64;

/// A stored capture. Header and index have been checked; blocks are checked when they are read.
#[derive(Clone, Debug)]
pub struct Segment<'a> {
    container: Container<'a>,
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
        Ok(Self { container })
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
        self.check_channel(channel)?;
        let last = self.container.blocks.len().saturating_sub(1);
        let index = self.container.find(sample).min(last);
        let Some(found) = self.container.blocks.get(index) else {
            return Ok(false);
        };
        let block = Block::parse(found, self.channels())?;
        let mut toggles = Vec::new();
        block.toggles(channel, &mut toggles)?;
        let offset = sample.saturating_sub(found.start);
        let before = toggles.partition_point(|&toggle| u64::from(toggle) <= offset);
        Ok((block.levels() >> channel & 1 != 0) ^ (before % 2 == 1))
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
