//! Look-ups on one channel of a stored capture: edges, levels, counts.

use super::lane::{Lane, Place};
use super::{Segment, SegmentError};
use std::ops::Range;

/// A kind of change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// Low before, high from there on.
    Rising,
    /// High before, low from there on.
    Falling,
    /// Either of them.
    Either,
}

/// Levels that a channel has in some samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// It is low at one of them at least.
    pub low: bool,
    /// It is high at one of them at least.
    pub high: bool,
}

/// A stretch of samples between two edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pulse {
    /// Its first sample: where the first edge is.
    pub start: u64,
    /// Width in samples, at least one.
    pub samples: u64,
    /// The level between its edges.
    pub level: bool,
}

impl Pulse {
    /// Where the second edge is: the first sample behind the pulse.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.start + self.samples
    }
}

/// One channel of a segment. It holds the samples that were needed last, so that questions about the same place cost little.
///
/// An edge is at the first sample that has the new level; sample 0 is none.
pub struct Line<'a> {
    segment: &'a Segment<'a>,
    channel: usize,
    /// Number of the block, and which of its samples are in `lane`.
    held: Option<(usize, Range<u32>)>,
    lane: Lane,
}

impl<'a> Line<'a> {
    pub(super) fn new(segment: &'a Segment<'a>, channel: usize) -> Result<Self, SegmentError> {
        segment.check_channel(channel)?;
        Ok(Self {
            segment,
            channel,
            held: None,
            lane: Lane::default(),
        })
    }

    /// Level at a sample; past the end, the last level.
    ///
    /// # Errors
    /// The block that holds the sample is damaged.
    pub fn level_at(&mut self, sample: u64) -> Result<bool, SegmentError> {
        let blocks = &self.segment.blocks;
        let index = self.segment.find(sample);
        let index = index.min(blocks.len().saturating_sub(1));
        let Some(block) = blocks.get(index) else {
            return Ok(false);
        };
        let offset = offset(block.start, sample).min(block.samples - 1);
        if let Some(facts) = &self.segment.facts
            && facts.count(index, self.channel) == 0
        {
            return Ok(facts.level(index, self.channel));
        }
        let (lane, part) = self.lane(index, offset)?;
        Ok(lane.level_at(offset - part.start))
    }

    /// First edge at or after a sample.
    ///
    /// # Errors
    /// A block on the way is damaged.
    pub fn next_edge(&mut self, from: u64, edge: Edge) -> Result<Option<u64>, SegmentError> {
        let first = self.segment.find(from);
        for index in first..self.segment.blocks.len() {
            if self.rests(index) {
                continue;
            }
            let block = self.segment.blocks[index];
            let mut at = offset(block.start, from);
            while at < block.samples {
                let (lane, part) = self.lane(index, at)?;
                if let Some(found) = lane.next(at - part.start, edge) {
                    return Ok(Some(block.start + u64::from(part.start + found)));
                }
                at = part.end;
            }
        }
        Ok(None)
    }

    /// Last edge before a sample.
    ///
    /// # Errors
    /// A block on the way is damaged.
    pub fn previous_edge(&mut self, before: u64, edge: Edge) -> Result<Option<u64>, SegmentError> {
        let blocks = &self.segment.blocks;
        let end = blocks.partition_point(|block| block.start < before);
        for index in (0..end).rev() {
            if self.rests(index) {
                continue;
            }
            let block = self.segment.blocks[index];
            let mut end = offset(block.start, before).min(block.samples);
            while end > 0 {
                let (lane, part) = self.lane(index, end - 1)?;
                if let Some(found) = lane.previous(end - part.start, edge) {
                    return Ok(Some(block.start + u64::from(part.start + found)));
                }
                end = part.start;
            }
        }
        Ok(None)
    }

    /// Levels in a range of samples, as far as they exist.
    ///
    /// # Errors
    /// A block on the way is damaged.
    pub fn levels_in(&mut self, range: Range<u64>) -> Result<Seen, SegmentError> {
        let end = range.end.min(self.segment.samples());
        if range.start >= end {
            return Ok(Seen::default());
        }
        let first = self.level_at(range.start)?;
        let next = self.next_edge(range.start + 1, Edge::Either)?;
        let changes = next.is_some_and(|at| at < end);
        Ok(Seen {
            low: !first || changes,
            high: first || changes,
        })
    }

    /// Number of edges in a range of samples, of both kinds.
    ///
    /// # Errors
    /// A block on the way is damaged.
    pub fn edges_in(&mut self, range: Range<u64>) -> Result<u64, SegmentError> {
        let end = range.end.min(self.segment.samples());
        let mut count = 0;
        for index in self.segment.blocks_in(range.start, end) {
            if self.rests(index) {
                continue;
            }
            let block = self.segment.blocks[index];
            let is_whole = range.start <= block.start && block.end() <= end;
            if is_whole && let Some(facts) = &self.segment.facts {
                count += u64::from(facts.count(index, self.channel));
                continue;
            }
            let to = offset(block.start, end).min(block.samples);
            count += self.edges_of(index, offset(block.start, range.start)..to)?;
        }
        Ok(count)
    }

    /// Edges in some samples of a block.
    fn edges_of(&mut self, index: usize, range: Range<u32>) -> Result<u64, SegmentError> {
        let Some(counts) = self.segment.counts(index, self.channel)? else {
            let (lane, part) = self.lane(index, range.start)?;
            return Ok(lane.count(range.start - part.start, range.end - part.start));
        };
        let mut all = 0;
        for (part, count) in counts {
            let from = range.start.max(part.start);
            let to = range.end.min(part.end);
            if from >= to {
                continue;
            }
            if (from, to) == (part.start, part.end) {
                all += u64::from(count);
                continue;
            }
            let (lane, _) = self.lane(index, from)?;
            all += lane.count(from - part.start, to - part.start);
        }
        Ok(all)
    }

    /// The pulses that lie in a range with both of their edges, in order.
    #[must_use]
    pub fn pulses(&self, range: Range<u64>) -> Pulses<'a> {
        Pulses {
            toggles: Toggles::new(self.segment, self.channel, range.start, range.end),
            last: None,
        }
    }

    /// Whether the index says that the channel does not toggle in a block.
    fn rests(&self, index: usize) -> bool {
        let facts = self.segment.facts.as_ref();
        facts.is_some_and(|facts| facts.count(index, self.channel) == 0)
    }

    /// The channel about an offset into a block, and where in the block that is.
    fn lane(&mut self, index: usize, offset: u32) -> Result<(&Lane, Range<u32>), SegmentError> {
        let held = self.held.take();
        let held = held.filter(|(block, part)| *block == index && part.contains(&offset));
        let (_, part) = match held {
            Some(held) => held,
            None => {
                let (segment, lane) = (self.segment, &mut self.lane);
                (index, segment.unpack_at(index, self.channel, offset, lane)?)
            }
        };
        self.held = Some((index, part.clone()));
        Ok((&self.lane, part))
    }
}

/// Where the parts of a block are, and how many toggles each has.
type Counts = Vec<(Range<u32>, u32)>;

impl<'a> Segment<'a> {
    /// One of its channels, for look-ups.
    ///
    /// # Errors
    /// There is no such channel.
    pub fn line(&self, channel: usize) -> Result<Line<'_>, SegmentError> {
        Line::new(self, channel)
    }

    /// Toggles of the parts of a block, and where these are; none where a channel is not cut into parts.
    fn counts(&self, index: usize, channel: usize) -> Result<Option<Counts>, SegmentError> {
        let Some(pack) = self.pack(index)? else {
            return Ok(None);
        };
        let piece = pack.piece(self.blocks[index].number, channel)?;
        Ok(piece.counts().map(Iterator::collect))
    }
}

/// The toggles of one channel.
pub struct Toggles<'a> {
    segment: &'a Segment<'a>,
    channel: usize,
    /// Next block to unpack; past the last one when everything is read or something failed.
    next_block: usize,
    /// First sample of the block in `lane`.
    start: u64,
    lane: Lane,
    place: Place,
    /// First sample wanted, and the first one no longer wanted.
    from: u64,
    to: u64,
}

impl<'a> Toggles<'a> {
    pub(super) fn new(segment: &'a Segment<'a>, channel: usize, from: u64, to: u64) -> Self {
        Self {
            segment,
            channel,
            next_block: segment.find(from),
            start: 0,
            lane: Lane::default(),
            place: Place::default(),
            from,
            to,
        }
    }

    /// Unpacks the next block in which the channel may toggle. False when there is none.
    fn next_block(&mut self) -> Result<bool, SegmentError> {
        loop {
            let index = self.next_block;
            let Some(block) = self.segment.blocks.get(index) else {
                return Ok(false);
            };
            self.segment.check_channel(self.channel)?;
            if block.start >= self.to {
                self.stop();
                return Ok(false);
            }
            self.next_block += 1;
            if let Some(facts) = &self.segment.facts
                && facts.count(index, self.channel) == 0
            {
                continue;
            }
            self.segment.unpack(index, self.channel, &mut self.lane)?;
            self.start = block.start;
            self.place = self.lane.place(offset(block.start, self.from));
            return Ok(true);
        }
    }

    /// There is no more.
    fn stop(&mut self) {
        self.next_block = self.segment.blocks.len();
        self.lane.begin(false, 0);
        self.place = Place::default();
    }

    /// Level from the toggle on that came last.
    fn level_from(&self, toggle: u64) -> bool {
        self.lane.level_at(offset(self.start, toggle))
    }
}

impl Iterator for Toggles<'_> {
    type Item = Result<u64, SegmentError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(toggle) = self.lane.take(&mut self.place) {
                let toggle = self.start + u64::from(toggle);
                if toggle < self.to {
                    return Some(Ok(toggle));
                }
                self.stop();
                return None;
            }
            match self.next_block() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => {
                    self.stop();
                    return Some(Err(error));
                }
            }
        }
    }
}

/// The pulses of one channel.
pub struct Pulses<'a> {
    toggles: Toggles<'a>,
    /// The toggle before, and the level from there on.
    last: Option<(u64, bool)>,
}

impl Iterator for Pulses<'_> {
    type Item = Result<Pulse, SegmentError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let toggle = match self.toggles.next()? {
                Ok(toggle) => toggle,
                Err(error) => return Some(Err(error)),
            };
            let Some((start, level)) = self.last else {
                self.last = Some((toggle, self.toggles.level_from(toggle)));
                continue;
            };
            self.last = Some((toggle, !level));
            return Some(Ok(Pulse {
                start,
                samples: toggle - start,
                level,
            }));
        }
    }
}

/// Where a sample is in a block that begins at `start`; samples before it count as its first, later ones as its end.
pub(super) fn offset(start: u64, sample: u64) -> u32 {
    u32::try_from(sample.saturating_sub(start)).unwrap_or(u32::MAX)
}
