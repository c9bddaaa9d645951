//! Feeds a segment to a protocol decoder: only the blocks of 64 samples in which something changes.

use super::distances::prefix_xor;
use super::glitches::Glitches;
use super::line::offset;
use super::{Lane, Segment, SegmentError};
use crate::planes::LANES;
use crate::protocol::ActiveBlock;
use std::ops::Range;

const NO_MORE: u32 = u32::MAX;

/// Reads the channels that a decoder looks at.
pub struct Reader<'a> {
    segment: &'a Segment<'a>,
    lanes: [Option<usize>; LANES],
    next_block: usize,
    /// Samples outside of these are as if nothing happened there.
    range: Range<u64>,
    glitches: Option<Glitches>,
    /// The current block.
    block: [Lane; LANES],
}

impl<'a> Reader<'a> {
    pub(super) fn new(segment: &'a Segment<'a>, wanted: &[Option<usize>]) -> Self {
        let mut lanes = [None; LANES];
        for (lane, channel) in lanes.iter_mut().zip(wanted) {
            // As with raw samples, a channel that was not stored reads low.
            *lane = channel.filter(|&channel| channel < segment.channels());
        }
        Self {
            segment,
            lanes,
            next_block: 0,
            range: 0..u64::MAX,
            glitches: None,
            block: Default::default(),
        }
    }

    /// Only what happens in these samples: the lanes have the levels before the first of them up to there.
    pub(crate) fn within(mut self, range: &Range<u64>) -> Self {
        self.next_block = self.segment.find(range.start);
        self.range = range.clone();
        self
    }

    /// Without pulses shorter than so many samples.
    pub(crate) fn without_glitches(mut self, samples: u64) -> Self {
        self.glitches = (samples > 1).then(|| Glitches::new(samples, LANES));
        self
    }

    /// Numbers of the blocks that it has not read.
    pub(crate) fn left(&self) -> Range<usize> {
        let end = self.segment.blocks_in(self.range.start, self.range.end).end;
        self.next_block.min(end)..end
    }

    /// Goes on behind another reader.
    pub(crate) fn seek(&mut self, block: usize) {
        self.next_block = block;
    }

    /// Unpacks the next stored block into `active`. Returns its first sample, its length, and the
    /// levels of the lanes before it; `None` at the end.
    pub(crate) fn next_block(
        &mut self,
        active: &mut Vec<ActiveBlock>,
    ) -> Result<Option<(u64, u64, u64)>, SegmentError> {
        active.clear();
        let Some((start, to, levels)) = self.next_toggles()? else {
            return Ok(None);
        };
        self.collect(start, to, levels, active);
        Ok(Some((start, to.into(), levels)))
    }

    /// The same, but what toggles is to be had from `toggles`.
    pub(crate) fn next_toggles(&mut self) -> Result<Option<(u64, u32, u64)>, SegmentError> {
        let index = self.next_block;
        let Some(located) = self.segment.blocks.get(index).copied() else {
            return Ok(None);
        };
        if self.range.end <= located.start {
            return Ok(None);
        }
        self.next_block += 1;
        let from = offset(located.start, self.range.start).min(located.samples);
        let to = offset(located.start, self.range.end).min(located.samples);
        let mut levels = 0;
        for (number, channel) in self.lanes.iter().enumerate() {
            let lane = &mut self.block[number];
            let Some(channel) = *channel else { continue };
            self.segment.unpack(index, channel, lane)?;
            let mut level = lane.level_before(0);
            let toggles = lane.offsets();
            if let Some(glitches) = &mut self.glitches {
                let of = (self.segment, channel);
                level = glitches.leave_out(number, of, (located.start, level), toggles)?;
            }
            level ^= cut(toggles, from, to);
            levels |= u64::from(level) << number;
        }
        Ok(Some((located.start, to, levels)))
    }

    /// Where a lane toggles in the block that was read last, counted from its first sample.
    pub(crate) fn toggles(&self, lane: usize) -> &[u32] {
        self.block[lane].list()
    }

    /// Merges the lanes' toggles into planes.
    fn collect(&mut self, start: u64, samples: u32, levels: u64, active: &mut Vec<ActiveBlock>) {
        let mut levels: [u64; LANES] =
            std::array::from_fn(|lane| (levels >> lane & 1).wrapping_neg());
        let mut cursors = self
            .block
            .each_mut()
            .map(|lane| lane.offsets().iter().copied().peekable());
        loop {
            let next = cursors
                .iter_mut()
                .map(|lane| lane.peek().copied().unwrap_or(NO_MORE));
            let next = next.min().unwrap_or(NO_MORE);
            if next == NO_MORE {
                return;
            }
            let first = next / 64 * 64;
            let planes = std::array::from_fn(|lane| {
                let mut toggles = 0;
                while let Some(offset) = cursors[lane].next_if(|offset| *offset < first + 64) {
                    toggles |= 1 << (offset - first);
                }
                let plane = prefix_xor(toggles) ^ levels[lane];
                levels[lane] = (plane >> 63).wrapping_neg();
                plane
            });
            let count = (samples - first).min(64);
            active.push(ActiveBlock {
                at: start + u64::from(first),
                count,
                planes,
            });
        }
    }
}

/// Keeps the toggles in `from..to`; whether an odd number of them was before.
fn cut(toggles: &mut Vec<u32>, from: u32, to: u32) -> bool {
    toggles.truncate(toggles.partition_point(|&at| at < to));
    let before = toggles.partition_point(|&at| at < from);
    toggles.drain(..before);
    before % 2 == 1
}
