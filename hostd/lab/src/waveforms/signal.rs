//! From stored levels to DAC codes: window, block average, mapping, fault. Pure computation, in the
//! same order as the published clients, so that both play the same codes.

use std::ops::Range;

use store::waveforms::{Output, Segment, Shape};

/// Highest code of the DACs, which have 16 bits.
pub const CODE_MAX: u16 = u16::MAX;

/// What a signal that never changes becomes when it is stretched.
const CODE_MIDDLE: u16 = 0x8000;

/// The nominal 4-20 mA output; a pod reports its own range.
const CURRENT_MA: (f64, f64) = (4.0, 20.0);

/// How levels become codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mapping {
    /// Each level as it is, clipped to the output's range.
    Faithful,
    /// The lowest level at the output's low end, the highest at its high end.
    Fit,
}

/// A level at the first code, and one at the last.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Span {
    pub low: f64,
    pub high: f64,
}

/// What a stretch of codes is replaced by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// Index of the first code.
    pub start: usize,
    /// None = to the end.
    pub width: Option<usize>,
    pub level: u16,
}

impl Span {
    /// An output's range, in its [`unit`](Output::unit).
    #[must_use]
    pub fn of(output: Output) -> Self {
        let (low, high) = match output {
            Output::V3 => (0.0, 3.3),
            Output::V5 => (0.0, 5.0),
            Output::V12 => (-12.0, 12.0),
            Output::Current => CURRENT_MA,
        };
        Self { low, high }
    }

    /// The nearest code for a level.
    #[must_use]
    pub fn code(self, level: f64) -> u16 {
        let top = f64::from(CODE_MAX);
        let code = (level - self.low) / (self.high - self.low) * top;
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "clamped to 16 bits; not a number becomes 0"
        )]
        // Halves go to the even code, as the clients round.
        let code = code.round_ties_even().clamp(0.0, top) as u16;
        code
    }
}

/// The window's samples out of `count`: from `start`, `len` of them or all the rest.
#[must_use]
pub(crate) fn window(count: usize, start: usize, len: Option<usize>) -> Range<usize> {
    let start = start.min(count);
    let end = len.map_or(count, |len| start.saturating_add(len).min(count));
    start..end
}

/// Samples of one block when `count` become at most `most`.
#[must_use]
pub(crate) fn block(count: usize, most: usize) -> usize {
    count.div_ceil(most.max(1)).max(1)
}

/// The mean of each block of `block` levels; the last may have fewer.
#[must_use]
pub(crate) fn averages(levels: impl ExactSizeIterator<Item = f64>, block: usize) -> Vec<f64> {
    let block = block.max(1);
    if block == 1 {
        return levels.collect();
    }
    let mut means = Vec::with_capacity(levels.len().div_ceil(block));
    let (mut sum, mut held) = (0.0, 0u32);
    for level in levels {
        sum += level;
        held += 1;
        if held as usize == block {
            means.push(sum / f64::from(held));
            (sum, held) = (0.0, 0);
        }
    }
    if held > 0 {
        means.push(sum / f64::from(held));
    }
    means
}

/// The codes of `levels` on an output that spans `span`.
#[must_use]
pub fn codes(levels: &[f64], mapping: Mapping, span: Span) -> Vec<u16> {
    let span = match mapping {
        Mapping::Faithful => span,
        Mapping::Fit => {
            let own = own_span(levels);
            if own.high <= own.low {
                return vec![CODE_MIDDLE; levels.len()];
            }
            own
        }
    };
    levels.iter().map(|level| span.code(*level)).collect()
}

fn own_span(levels: &[f64]) -> Span {
    Span {
        low: levels.iter().copied().fold(f64::INFINITY, f64::min),
        high: levels.iter().copied().fold(f64::NEG_INFINITY, f64::max),
    }
}

/// Put a fault into the codes. A fault that starts after the last code changes nothing.
pub(crate) fn spoil(codes: &mut [u16], fault: Fault) {
    let range = window(codes.len(), fault.start, fault.width);
    codes[range].fill(fault.level);
}

/// The levels of segments, at `rate_hz` levels per second; each segment has at least one.
#[must_use]
pub(crate) fn levels(segments: &[Segment], rate_hz: f64) -> Vec<f64> {
    let mut levels = Vec::new();
    for segment in segments {
        let count = count(segment, rate_hz);
        let (from, to) = (segment.from_level, segment.to_level);
        match segment.shape {
            Shape::Hold => levels.extend(std::iter::repeat_n(from, count)),
            Shape::Step => levels.extend(std::iter::repeat_n(to, count)),
            Shape::Ramp if count == 1 => levels.push(to),
            Shape::Ramp => {
                let last = real(count - 1);
                levels.extend((0..count).map(|i| from + (to - from) * (real(i) / last)));
            }
        }
    }
    levels
}

/// Samples of a segment.
#[must_use]
pub fn count(segment: &Segment, rate_hz: f64) -> usize {
    let exact = (segment.duration_ms / 1000.0 * rate_hz).round_ties_even();
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "float to integer casts saturate, and whoever keeps segments bounds them"
    )]
    let count = exact.max(1.0) as usize;
    count
}

#[allow(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn real(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests;
