//! Walks through the changes of up to eight channels, a bitmap of toggles for each: for decoders that take changes one by
//! one.

use super::glitches::Glitches;
use super::line::offset;
use super::{BLOCK_SAMPLES, Lane, Segment, SegmentError};
use crate::foreign::CHANNELS_MAX;
use std::ops::Range;

const WORDS: usize = BLOCK_SAMPLES as usize / 64;

/// The changes of some channels.
pub(crate) struct Changes<'a> {
    segment: &'a Segment<'a>,
    channels: Vec<Option<usize>>,
    next_block: usize,
    is_first: bool,
    range: Range<u64>,
    glitches: Option<Glitches>,
    /// A bit for each sample at which a channel toggles; all zero between two blocks.
    moves: Vec<Vec<u64>>,
    lanes: Vec<Lane>,
}

impl<'a> Changes<'a> {
    /// Bit `i` of levels is the `i`-th of `channels`; one that is none, or that was not stored, is low.
    pub(super) fn new(segment: &'a Segment<'a>, channels: &[Option<usize>]) -> Self {
        debug_assert!(channels.len() <= CHANNELS_MAX);
        let stored = |channel: &Option<usize>| channel.filter(|&c| c < segment.channels());
        Self {
            segment,
            channels: channels.iter().map(stored).collect(),
            next_block: 0,
            is_first: true,
            range: 0..u64::MAX,
            glitches: None,
            moves: vec![vec![0; WORDS]; channels.len()],
            lanes: channels.iter().map(|_| Lane::default()).collect(),
        }
    }

    /// Only these samples.
    pub(crate) fn within(mut self, range: &Range<u64>) -> Self {
        self.next_block = self.segment.find(range.start);
        self.range = range.clone();
        self
    }

    /// Without pulses shorter than so many samples.
    pub(crate) fn without_glitches(mut self, samples: u64) -> Self {
        self.glitches = (samples > 1).then(|| Glitches::new(samples, CHANNELS_MAX));
        self
    }

    /// Pass the changes of the next block on: sample, and levels from there on. The first one is that of the first
    /// sample. False when there is no more.
    pub(crate) fn next_block<E: From<SegmentError>>(
        &mut self,
        mut change: impl FnMut(u64, u8) -> Result<(), E>,
    ) -> Result<bool, E> {
        let Some(located) = self.segment.blocks.get(self.next_block) else {
            return Ok(false);
        };
        if self.range.end <= located.start {
            return Ok(false);
        }
        let located = *located;
        let is_first = std::mem::take(&mut self.is_first);
        let index = self.next_block;
        self.next_block += 1;
        let from = offset(located.start, self.range.start);
        let to = offset(located.start, self.range.end);
        let mut levels = 0;
        for (lane, channel) in self.channels.iter().enumerate() {
            let Some(channel) = *channel else { continue };
            let unpacked = &mut self.lanes[lane];
            self.segment.unpack(index, channel, unpacked)?;
            let mut level = unpacked.level_before(0);
            let toggles = unpacked.offsets();
            if let Some(glitches) = &mut self.glitches {
                let of = (self.segment, channel);
                level = glitches.leave_out(lane, of, (located.start, level), toggles)?;
            }
            levels |= u8::from(level) << lane;
            for &at in toggles.iter().take_while(|at| **at < to) {
                // What toggles up to the first sample come to is in the levels that begin there.
                match is_first && at <= from {
                    true => levels ^= 1 << lane,
                    false => self.moves[lane][at as usize / 64] |= 1 << (at % 64),
                }
            }
        }
        if is_first {
            change(located.start + u64::from(from), levels)?;
        }
        for word in 0..located.samples.div_ceil(64) as usize {
            let mut any = self.moves.iter().fold(0, |any, moves| any | moves[word]);
            if any == 0 {
                continue;
            }
            let mut lanes = [0; CHANNELS_MAX];
            for (lane, moves) in lanes.iter_mut().zip(&mut self.moves) {
                *lane = std::mem::take(&mut moves[word]);
            }
            let lanes = &lanes[..self.channels.len()];
            while any != 0 {
                let bit = any.trailing_zeros();
                any &= any - 1;
                for (lane, moves) in lanes.iter().enumerate() {
                    levels ^= u8::from(moves >> bit & 1 != 0) << lane;
                }
                change(located.start + word as u64 * 64 + u64::from(bit), levels)?;
            }
        }
        Ok(true)
    }
}
