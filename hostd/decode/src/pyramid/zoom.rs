//! Lowest and highest value of one channel in any range of samples.

use super::{FINEST_LEVEL, HIGH, LEVEL_MAX, LEVEL_STEP, LOW, Pyramid};
use crate::analog::AnalogSegment;
use crate::segment::{Line, Seen, Segment, SegmentError};
use std::ops::Range;

/// Lowest and highest value; 0 and 1 of a logic channel.
type Extent = (u16, u16);

/// Cells of the last chunk that was read, by its level and number.
#[derive(Default)]
struct Held {
    at: Option<(u32, usize)>,
    min: Vec<u16>,
    max: Vec<u16>,
}

/// Where samples come from.
enum Source<'a> {
    Logic(Line<'a>, usize),
    Analog {
        segment: &'a AnalogSegment<'a>,
        /// Number of the block in `samples`.
        held: Option<usize>,
        samples: Vec<u16>,
    },
}

/// One channel. Ranges are answered from the coarsest cells that lie in them; only where the ends of a range could change
/// the answer is something finer read, at last the capture itself. Ranges in ascending order cost least.
pub struct Zoom<'a> {
    source: Source<'a>,
    pyramid: Option<&'a Pyramid<'a>>,
    samples: u64,
    /// By level.
    held: Vec<Held>,
}

impl<'a> Zoom<'a> {
    /// On a logic channel. Without a pyramid, blocks are read.
    ///
    /// # Errors
    /// There is no such channel.
    pub fn of_logic(
        segment: &'a Segment<'a>,
        pyramid: Option<&'a Pyramid<'a>>,
        channel: usize,
    ) -> Result<Self, SegmentError> {
        let line = segment.line(channel)?;
        Ok(Self::new(
            Source::Logic(line, channel),
            pyramid,
            segment.samples(),
        ))
    }

    /// On an analog channel, likewise.
    #[must_use]
    pub fn of_analog(segment: &'a AnalogSegment<'a>, pyramid: Option<&'a Pyramid<'a>>) -> Self {
        let source = Source::Analog {
            segment,
            held: None,
            samples: Vec::new(),
        };
        Self::new(source, pyramid, segment.samples())
    }

    fn new(source: Source<'a>, pyramid: Option<&'a Pyramid<'a>>, samples: u64) -> Self {
        let mut held = Vec::new();
        held.resize_with((LEVEL_MAX / LEVEL_STEP) as usize + 1, Held::default);
        Self {
            source,
            pyramid,
            samples,
            held,
        }
    }

    /// Lowest and highest count in a range, or 0 and 1 for the levels of a logic channel; none in an empty range.
    ///
    /// # Errors
    /// The capture or the pyramid is damaged.
    pub fn extent(&mut self, range: Range<u64>) -> Result<Option<(u16, u16)>, SegmentError> {
        let range = range.start..range.end.min(self.samples);
        if range.is_empty() {
            return Ok(None);
        }
        // Coarser cells than half of the range cannot lie in it.
        let most = (range.end - range.start).ilog2();
        let level = self.pyramid.and_then(|pyramid| pyramid.level_for(most));
        let mut seen = None;
        self.look(&range, level, &mut seen)?;
        Ok(seen)
    }

    /// Adds a range to what was seen, with cells of `level` at the coarsest; none: with samples.
    fn look(
        &mut self,
        range: &Range<u64>,
        level: Option<u32>,
        seen: &mut Option<Extent>,
    ) -> Result<(), SegmentError> {
        let Some(level) = level else {
            return self.look_closely(range, seen);
        };
        let below = level
            .checked_sub(LEVEL_STEP)
            .filter(|&level| level >= FINEST_LEVEL);
        let first = range.start.div_ceil(1 << level);
        // The last cell of a capture may be short, and is whole all the same.
        let end = match range.end == self.samples {
            true => range.end.div_ceil(1 << level),
            false => range.end >> level,
        };
        if first >= end {
            return self.look(range, below, seen);
        }
        for cell in first..end {
            let extent = self.cell(level, cell)?;
            add(seen, extent);
        }
        let ends = [
            (range.start..first << level, first.saturating_sub(1)),
            (end << level..range.end, end),
        ];
        for (rest, cell) in ends {
            if !rest.is_empty() && !covers(*seen, self.cell(level, cell)?) {
                self.look(&rest, below, seen)?;
            }
        }
        Ok(())
    }

    /// Lowest and highest value of a cell.
    fn cell(&mut self, level: u32, cell: u64) -> Result<Extent, SegmentError> {
        let damaged = || SegmentError::Pyramid;
        let pyramid = self.pyramid.ok_or_else(damaged)?;
        let size = super::CHUNK_CELLS as u64;
        let number = usize::try_from(cell / size).map_err(|_| damaged())?;
        let held = &mut self.held[((level - FINEST_LEVEL) / LEVEL_STEP) as usize];
        if held.at != Some((level, number)) {
            held.at = None;
            match &self.source {
                Source::Logic(_, channel) => {
                    let chunk = pyramid.logic_chunk(level, number)?;
                    let states = chunk.get(*channel).ok_or_else(damaged)?;
                    held.min.clear();
                    held.min
                        .extend(states.iter().map(|state| u16::from(state & LOW == 0)));
                    held.max.clear();
                    held.max
                        .extend(states.iter().map(|state| u16::from(state & HIGH != 0)));
                }
                Source::Analog { .. } => {
                    (held.min, held.max) = pyramid.analog_chunk(level, number)?;
                }
            }
            held.at = Some((level, number));
        }
        let place = usize::try_from(cell % size).map_err(|_| damaged())?;
        let found = held.min.get(place).zip(held.max.get(place));
        found.map(|(min, max)| (*min, *max)).ok_or_else(damaged)
    }

    fn look_closely(
        &mut self,
        range: &Range<u64>,
        seen: &mut Option<Extent>,
    ) -> Result<(), SegmentError> {
        match &mut self.source {
            Source::Logic(line, _) => {
                let Seen { low, high } = line.levels_in(range.clone())?;
                add(seen, (u16::from(!low), u16::from(high)));
            }
            Source::Analog {
                segment,
                held,
                samples,
            } => {
                let mut at = range.start;
                while at < range.end {
                    let Some((index, block)) = segment.block_at(at) else {
                        break;
                    };
                    if *held != Some(index) {
                        *held = None;
                        samples.clear();
                        segment.read_block(index, samples)?;
                        *held = Some(index);
                    }
                    let end = range.end.min(block.end);
                    let place =
                        |sample: u64| usize::try_from(sample - block.start).unwrap_or(usize::MAX);
                    let part = samples.get(place(at)..place(end)).unwrap_or_default();
                    if let (Some(min), Some(max)) = (part.iter().min(), part.iter().max()) {
                        add(seen, (*min, *max));
                    }
                    at = end;
                }
            }
        }
        Ok(())
    }
}

fn add(seen: &mut Option<Extent>, (min, max): Extent) {
    *seen = Some(seen.map_or((min, max), |(low, high)| (low.min(min), high.max(max))));
}

/// Whether a cell adds nothing to what was seen.
fn covers(seen: Option<Extent>, (min, max): Extent) -> bool {
    seen.is_some_and(|(low, high)| low <= min && max <= high)
}
