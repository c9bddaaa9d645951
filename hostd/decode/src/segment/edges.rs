//! The edges of several channels of a segment.

use super::{Lane, Segment, SegmentError};

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
    lanes: Vec<Lane>,
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
        let next_block = segment.find(from);
        Self {
            segment,
            lanes: channels.iter().map(|_| Lane::default()).collect(),
            channels,
            next_block,
            from,
            to,
            waiting: Vec::new(),
        }
    }

    /// Unpacks a block into `waiting`.
    fn unpack(&mut self, index: usize) -> Result<(), SegmentError> {
        let start = self.segment.blocks[index].start;
        let mut moves = Vec::new();
        let mut levels = 0;
        for (number, (&channel, lane)) in self.channels.iter().zip(&mut self.lanes).enumerate() {
            self.segment.unpack(index, channel, lane)?;
            levels |= u64::from(lane.level_before(0)) << number;
            let toggles = lane.offsets().iter();
            moves.extend(toggles.map(|&offset| (u64::from(offset), 1u64 << number)));
        }
        // Those of a channel are in order: a stable sort finds such runs and merges them.
        moves.sort();
        for together in moves.chunk_by(|a, b| a.0 == b.0) {
            levels = together
                .iter()
                .fold(levels, |levels, (_, lane)| levels ^ lane);
            let sample = start + together[0].0;
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
            let block = self.segment.blocks.get(index)?;
            if block.start >= self.to {
                return None;
            }
            self.next_block += 1;
            if let Err(error) = self.unpack(index) {
                self.next_block = self.segment.blocks.len();
                return Some(Err(error));
            }
        }
    }
}
