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

/// One channel of a segment. It holds the block that was needed last, so that questions about the same place cost little.
///
/// An edge is at the first sample that has the new level; sample 0 is none.
pub struct Line<'a> {
    segment: &'a Segment<'a>,
    channel: usize,
    /// Number of the block in `lane`.
    held: Option<usize>,
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
        let blocks = &self.segment.container.blocks;
        let index = self.segment.container.find(sample);
        let index = index.min(blocks.len().saturating_sub(1));
        let Some(block) = blocks.get(index) else {
            return Ok(false);
        };
        let offset = offset(block.start, sample);
        if let Some(facts) = &self.segment.facts
            && facts.count(index, self.channel) == 0
        {
            return Ok(facts.level(index, self.channel));
        }
        Ok(self.lane(index)?.level_at(offset))
    }

    /// First edge at or after a sample.
    ///
    /// # Errors
    /// A block on the way is damaged.
    pub fn next_edge(&mut self, from: u64, edge: Edge) -> Result<Option<u64>, SegmentError> {
        let first = self.segment.container.find(from);
        for index in first..self.segment.container.blocks.len() {
            if self.rests(index) {
                continue;
            }
            let start = self.segment.container.blocks[index].start;
            let found = self.lane(index)?.next(offset(start, from), edge);
            if let Some(found) = found {
                return Ok(Some(start + u64::from(found)));
            }
        }
        Ok(None)
    }

    /// Last edge before a sample.
    ///
    /// # Errors
    /// A block on the way is damaged.
    pub fn previous_edge(&mut self, before: u64, edge: Edge) -> Result<Option<u64>, SegmentError> {
        let blocks = &self.segment.container.blocks;
        let end = blocks.partition_point(|block| block.start < before);
        for index in (0..end).rev() {
            if self.rests(index) {
                continue;
            }
            let start = self.segment.container.blocks[index].start;
            let found = self.lane(index)?.previous(offset(start, before), edge);
            if let Some(found) = found {
                return Ok(Some(start + u64::from(found)));
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
        let first = self.segment.container.find(range.start);
        for index in first..self.segment.container.blocks.len() {
            let block = self.segment.container.blocks[index];
            if block.start >= end {
                break;
            }
            if self.rests(index) {
                continue;
            }
            let is_whole = range.start <= block.start && block.end() <= end;
            if is_whole {
                let whole = match &self.segment.facts {
                    Some(facts) => facts.count(index, self.channel),
                    None => self.segment.block(index)?.count(self.channel),
                };
                count += u64::from(whole);
                continue;
            }
            let (from, to) = (offset(block.start, range.start), offset(block.start, end));
            count += self.lane(index)?.count(from, to);
        }
        Ok(count)
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

    /// The channel in a block.
    fn lane(&mut self, index: usize) -> Result<&Lane, SegmentError> {
        if self.held != Some(index) {
            self.held = None;
            self.segment.unpack(index, self.channel, &mut self.lane)?;
            self.held = Some(index);
        }
        Ok(&self.lane)
    }
}

impl<'a> Segment<'a> {
    /// One of its channels, for look-ups.
    ///
    /// # Errors
    /// There is no such channel.
    pub fn line(&self, channel: usize) -> Result<Line<'_>, SegmentError> {
        Line::new(self, channel)
    }

    /// Unpacks a channel of a block.
    pub(crate) fn unpack(
        &self,
        index: usize,
        channel: usize,
        lane: &mut Lane,
    ) -> Result<(), SegmentError> {
        self.block(index)?.unpack(channel, lane)
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
            next_block: segment.container.find(from),
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
            let Some(block) = self.segment.container.blocks.get(index) else {
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
        self.next_block = self.segment.container.blocks.len();
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
