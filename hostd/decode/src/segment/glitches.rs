//! Leaves out pulses that are too short.

use super::{Edge, Segment, SegmentError};

/// Pulses that are looked through before a range for one that is long enough. A line that has none of that many has no
/// level of its own there.
const PULSES_BEFORE_MAX: u32 = 4096;

/// Levels of some channels without pulses shorter than so many samples. What stands between two edges that are that near
/// has the level before it; edges that stay are where they were.
///
/// Blocks are given in their order. What a block ends with is decided by the next edge, which is looked up.
pub(crate) struct Glitches {
    samples: u64,
    /// For each lane the level that is shown, once there is one.
    shown: Vec<Option<bool>>,
}

impl Glitches {
    pub(crate) fn new(samples: u64, lanes: usize) -> Self {
        Self {
            samples,
            shown: vec![None; lanes],
        }
    }

    /// Leaves toggles out of those of a lane in the block that begins at sample `start` with `level` before it. Returns the
    /// level that is shown before the block.
    pub(crate) fn leave_out(
        &mut self,
        lane: usize,
        (segment, channel): (&Segment<'_>, usize),
        (start, level): (u64, bool),
        toggles: &mut Vec<u32>,
    ) -> Result<bool, SegmentError> {
        let Some(shown) = self.shown.get_mut(lane) else {
            return Ok(level);
        };
        if self.samples < 2 {
            return Ok(level);
        }
        let before = match *shown {
            Some(shown) => shown,
            None => shown_before(segment, channel, (start, level), self.samples)?,
        };
        *shown = Some(before);
        if toggles.is_empty() {
            return Ok(before);
        }
        let mut last = before;
        let mut now = level;
        let mut kept = 0;
        for index in 0..toggles.len() {
            now = !now;
            let at = toggles[index];
            if now == last {
                continue;
            }
            let is_long = match toggles.get(index + 1) {
                Some(next) => u64::from(next - at) >= self.samples,
                None => {
                    let at = start + u64::from(at);
                    let next = segment.line(channel)?.next_edge(at + 1, Edge::Either)?;
                    // What the capture cuts off is no pulse.
                    next.is_none_or(|next| next - at >= self.samples)
                }
            };
            if is_long {
                toggles[kept] = at;
                kept += 1;
                last = now;
            }
        }
        toggles.truncate(kept);
        *shown = Some(last);
        Ok(before)
    }
}

/// The level that is shown before sample `start`, where the line has `level`: that of the last pulse that is long enough, or
/// of the beginning.
fn shown_before(
    segment: &Segment<'_>,
    channel: usize,
    (start, level): (u64, bool),
    samples: u64,
) -> Result<bool, SegmentError> {
    let mut line = segment.line(channel)?;
    let mut shown = level;
    let mut begin = start;
    let mut end = line.next_edge(start, Edge::Either)?;
    for _ in 0..PULSES_BEFORE_MAX {
        let Some(before) = line.previous_edge(begin, Edge::Either)? else {
            return Ok(shown);
        };
        // What the capture cuts off is no pulse.
        if end.is_none_or(|end| end - before >= samples) {
            return Ok(shown);
        }
        shown = !shown;
        (begin, end) = (before, Some(before));
    }
    Ok(level)
}
