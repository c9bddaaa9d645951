//! Stored logic captures: the distances between each channel's toggles.
//!
//! A segment consists of blocks of about a million samples. What a block has of a channel is the
//! level before its first sample, and where the channel toggles: as varint distances, as a bit plane
//! if it toggles all the time, or nothing if it never does. Blocks are packed with zstd, a few of
//! them together where there is little in each: `pack.rs`. That is about ten times smaller than
//! `.sr`, and decoders read it faster than raw samples, since nothing between two edges has to be
//! looked at. The index says how often each channel toggles in each block, so that look-ups
//! ([`Line`]) pass over blocks in which it rests. Older files have blocks that are packed one by one.

mod block;
mod changes;
mod distances;
mod edges;
mod encoder;
mod error;
mod facts;
mod frame;
mod glitches;
mod group;
mod lane;
mod line;
mod pack;
mod packer;
mod reader;

pub use edges::Edges;
pub use encoder::{Encoder, EncoderError, EncoderSpec, SAMPLES_MAX};
pub use error::SegmentError;
pub use line::{Edge, Line, Pulse, Pulses, Seen, Toggles};
pub use reader::Reader;

use crate::container::{BlockRef, Container, Content, VERSION_WITH_PACKS};
use block::Block;
pub(crate) use changes::Changes;
use facts::Facts;
pub(crate) use lane::{Lane, Shared};
use pack::Pack;
use std::ops::Range;

/// Samples in a full block.
pub const BLOCK_SAMPLES: u32 = 1 << 20;

/// Blocks of the longest pack.
pub(crate) const PACK_BLOCKS_MAX: u32 = 128;

/// Maximum number of channels in a segment.
pub const CHANNELS_MAX: usize = 64;

const DAMAGED: SegmentError = SegmentError::Damaged { what: "a block" };

/// A stored capture. Header and index have been checked; blocks are checked when they are read.
#[derive(Clone, Debug)]
pub struct Segment<'a> {
    container: Container<'a>,
    blocks: Vec<Stretch>,
    /// None in files that were written before there were any, and where the index is missing.
    facts: Option<Facts>,
}

/// Where a block is.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    start: u64,
    samples: u32,
    /// Its pack, and which of its blocks it is.
    pack: usize,
    number: u32,
}

impl Stretch {
    /// First sample after the block.
    fn end(&self) -> u64 {
        self.start + u64::from(self.samples)
    }
}

impl<'a> Segment<'a> {
    /// Opens a complete segment.
    ///
    /// # Errors
    /// The bytes are not a segment, or the segment is damaged or unfinished.
    pub fn open(bytes: &'a [u8]) -> Result<Self, SegmentError> {
        Self::check(Container::open(bytes, Content::Logic)?)
    }

    /// Opens a segment whose writer died, up to its last complete pack of blocks.
    ///
    /// # Errors
    /// The header is missing or damaged.
    pub fn recover(bytes: &'a [u8]) -> Result<Self, SegmentError> {
        let is_sound = |container: &Container<'a>, block: &BlockRef<'a>| {
            if container.version < VERSION_WITH_PACKS {
                return block.payload().is_ok();
            }
            let channels = container.channels as usize;
            Pack::parse(block, channels).is_ok_and(|pack| pack.is_sound())
        };
        Self::check(Container::recover(bytes, Content::Logic, is_sound)?)
    }

    fn check(container: Container<'a>) -> Result<Self, SegmentError> {
        if !(1..=CHANNELS_MAX as u64).contains(&container.channels.into()) {
            return Err(SegmentError::Damaged {
                what: "the number of channels",
            });
        }
        let blocks = stretches(&container.blocks);
        let samples = blocks.iter().map(|block| block.samples);
        let facts = match container.notes {
            None => None,
            Some(notes) if container.version < VERSION_WITH_PACKS => {
                Some(Facts::parse(notes, samples)?)
            }
            Some(notes) => {
                let notes = Facts::unpack(notes, blocks.len())?;
                Some(Facts::parse(&notes, samples)?)
            }
        };
        Ok(Self {
            container,
            blocks,
            facts,
        })
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
        self.blocks.len()
    }

    /// Samples of a block.
    pub(crate) fn block_samples(&self, index: usize) -> u32 {
        self.blocks[index].samples
    }

    /// First sample of a block.
    pub(crate) fn block_start(&self, index: usize) -> u64 {
        self.blocks[index].start
    }

    /// The sample behind a block.
    pub(crate) fn block_end(&self, index: usize) -> u64 {
        self.blocks[index].end()
    }

    /// How often a channel toggles in a block, if the index says so.
    pub(crate) fn toggles_of_block(&self, index: usize, channel: usize) -> Option<u64> {
        if channel >= self.channels() {
            return Some(0);
        }
        let facts = self.facts.as_ref()?;
        Some(facts.count(index, channel).into())
    }

    /// Numbers of the blocks that have samples in `from..to`.
    pub(crate) fn blocks_in(&self, from: u64, to: u64) -> Range<usize> {
        let end = self.blocks.partition_point(|block| block.start < to);
        self.find(from).min(end)..end
    }

    /// Index of the block that holds `sample`, or the number of blocks.
    fn find(&self, sample: u64) -> usize {
        self.blocks.partition_point(|block| block.end() <= sample)
    }

    /// Unpacks what a channel has in a block. Ask for blocks in their order, and with a lane for each channel: packed blocks
    /// are packed together.
    pub(crate) fn unpack(
        &self,
        index: usize,
        channel: usize,
        lane: &mut Lane,
    ) -> Result<(), SegmentError> {
        self.check_channel(channel)?;
        let block = &self.blocks[index];
        match self.pack(index)? {
            Some(pack) => pack.unpack((block.pack, block.number), channel, lane),
            None => self.old(index)?.unpack(channel, lane),
        }
    }

    /// Unpacks at least the samples about an offset into a block; returns where in the block these are.
    fn unpack_at(
        &self,
        index: usize,
        channel: usize,
        offset: u32,
        lane: &mut Lane,
    ) -> Result<Range<u32>, SegmentError> {
        let block = &self.blocks[index];
        if let Some(pack) = self.pack(index)? {
            return pack.unpack_at((block.pack, block.number), channel, offset, lane);
        }
        self.old(index)?.unpack(channel, lane)?;
        Ok(0..block.samples)
    }

    /// The pack of a block; none in older files.
    fn pack(&self, index: usize) -> Result<Option<Pack<'a>>, SegmentError> {
        if self.container.version < VERSION_WITH_PACKS {
            return Ok(None);
        }
        let located = &self.container.blocks[self.blocks[index].pack];
        Pack::parse(located, self.channels()).map(Some)
    }

    /// A block of an older file.
    fn old(&self, index: usize) -> Result<Block<'a>, SegmentError> {
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

/// The blocks of some packs; of one that has no more samples than a block, the only one.
fn stretches(packs: &[BlockRef<'_>]) -> Vec<Stretch> {
    let mut blocks = Vec::with_capacity(packs.len());
    for (pack, located) in packs.iter().enumerate() {
        let starts = (0..located.samples).step_by(BLOCK_SAMPLES as usize);
        blocks.extend((0..).zip(starts).map(|(number, at)| Stretch {
            start: located.start + u64::from(at),
            samples: (located.samples - at).min(BLOCK_SAMPLES),
            pack,
            number,
        }));
    }
    blocks
}
