//! The edges of several channels of a segment.

use super::block::Block;
use super::{Segment, SegmentError};

/// The edges of several channels.
pub struct Edges<'a> {
    edges: EdgeBlocks<'a>,
}

impl<'a> Edges<'a> {
    pub(super) fn new(segment: &'a Segment<'a>, channels: &[usize], from: u64, to: u64) -> Self {
        Self {
            edges: EdgeBlocks::new(segment, channels.to_vec(), from, to),
        }
    }
}

impl Iterator for Edges<'_> {
    type Item = Result<(u64, u64), SegmentError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.edges.next()
    }
}

/// Walks through the edges of some channels, one block at a time.
struct EdgeBlocks<'a> {
    segment: &'a Segment<'a>,
    channels: Vec<usize>,
    /// Next block to unpack; past the last one when everything is read or something failed.
    next_block: usize,
    /// First sample wanted, and the first one no longer wanted.
    from: u64,
    to: u64,
    /// Remaining offsets and levels of the current block, last one first.
    waiting: Vec<(u64, u64)>,
}

impl<'a> EdgeBlocks<'a> {
    fn new(segment: &'a Segment<'a>, channels: Vec<usize>, from: u64, to: u64) -> Self {
        let next_block = segment.container.find(from);
        Self {
            segment,
            channels,
            next_block,
            from,
            to,
            waiting: Vec::new(),
        }
    }

    /// Unpacks a block into `waiting`.
    fn unpack(&mut self, index: usize) -> Result<(), SegmentError> {
        let located = &self.segment.container.blocks[index];
        let block = Block::parse(located, self.segment.channels())?;
        let mut moves = Vec::new();
        let mut levels = 0;
        let mut toggles = Vec::new();
        for (lane, &channel) in self.channels.iter().enumerate() {
            self.segment.check_channel(channel)?;
            levels |= (block.levels() >> channel & 1) << lane;
            block.toggles(channel, &mut toggles)?;
            moves.extend(
                toggles
                    .iter()
                    .map(|&offset| (u64::from(offset), 1u64 << lane)),
            );
        }
        moves.sort_unstable();
        for together in moves.chunk_by(|a, b| a.0 == b.0) {
            levels = together
                .iter()
                .fold(levels, |levels, (_, lane)| levels ^ lane);
            let sample = located.start + together[0].0;
            if self.from <= sample && sample < self.to {
                self.waiting.push((sample, levels));
            }
        }
        self.waiting.reverse();
        Ok(())
    }
}

impl Iterator for EdgeBlocks<'_> {
    type Item = Result<(u64, u64), SegmentError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(edge) = self.waiting.pop() {
                return Some(Ok(edge));
            }
            let index = self.next_block;
            let block = self.segment.container.blocks.get(index)?;
            if block.start >= self.to {
                return None;
            }
            self.next_block += 1;
            if let Err(error) = self.unpack(index) {
                self.next_block = self.segment.container.blocks.len();
                return Some(Err(error));
            }
        }
    }
}
