//! An analog channel: levels, frequency, rise and fall.

use std::ops::Range;

use decode::analog::{ANALOG_BLOCK_SAMPLES, AnalogSegment};
use decode::segment::SegmentError;

use crate::scale::{Scale, turn};
use crate::stats::{Stats, float};

mod levels;
mod transitions;

use levels::Histogram;
use transitions::Transitions;

/// A signal whose top and base are fewer counts apart has no edges: it is noise.
const AMPLITUDE_COUNTS_MIN: f64 = 8.0;

/// What an analog channel does in a range of samples; values are in the channel's unit.
///
/// `top` and `base` are the levels at which the signal dwells, by the histogram of IEEE 181: the most frequent value of the
/// upper and of the lower half of its range.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Analog {
    /// Samples of the range that the capture has. All else is 0 or none where there are none.
    pub samples: u64,
    /// The lowest value.
    pub min: f64,
    /// The highest value.
    pub max: f64,
    /// `max - min`.
    pub peak_to_peak: f64,
    /// The mean.
    pub mean: f64,
    /// Root of the mean square.
    pub rms: f64,
    /// Standard deviation: root of the mean square of what differs from the mean.
    pub deviation: f64,
    /// The upper level.
    pub top: f64,
    /// The lower level.
    pub base: f64,
    /// Whole periods by the time they take, in hertz. A period begins where the signal rises through the middle of `base`
    /// and `top`, having been a tenth of their distance below it and before it is a tenth above.
    pub frequency_hz: Option<f64>,
    /// From 10 % to 90 % of the way from `base` to `top`, in seconds.
    pub rise: Option<Stats>,
    /// From 90 % to 10 %.
    pub fall: Option<Stats>,
    /// How far `max` is above `top`, as a part of `top - base`.
    pub overshoot: Option<f64>,
    /// How far `min` is below `base`, likewise.
    pub undershoot: Option<f64>,
}

/// Measures a channel in a range of samples.
///
/// # Errors
/// The segment is damaged.
pub fn analog(
    segment: &AnalogSegment<'_>,
    scale: Scale,
    range: Range<u64>,
) -> Result<Analog, SegmentError> {
    let measured = analog_while(segment, scale, range, &mut || true)?;
    Ok(measured.unwrap_or_default())
}

/// The same, as long as `go_on` says so; none when it did not.
///
/// # Errors
/// As [`analog`].
pub fn analog_while(
    segment: &AnalogSegment<'_>,
    scale: Scale,
    range: Range<u64>,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Option<Analog>, SegmentError> {
    let end = range.end.min(segment.samples());
    let range = range.start.min(end)..end;
    let (scale, turned) = scale.rising();
    let mut histogram = Histogram::default();
    let mut add = |counts: &[u16]| histogram.add(counts);
    if !each_part(segment, &range, turned, go_on, &mut add)? {
        return Ok(None);
    }
    let Some(levels) = histogram.levels() else {
        return Ok(Some(Analog::default()));
    };
    let amplitude = levels.top - levels.base;
    let has_edges = amplitude >= AMPLITUDE_COUNTS_MIN;
    let mut transitions = Transitions::new(levels.base, levels.top);
    let mut add = |counts: &[u16]| transitions.add(counts);
    if has_edges && !each_part(segment, &range, turned, go_on, &mut add)? {
        return Ok(None);
    }
    let (mean, deviation) = histogram.moments();
    let (mean, deviation) = (scale.value(mean), deviation * scale.per_count);
    let rate_hz = segment.sample_rate_hz();
    let found = has_edges.then(|| transitions.found(rate_hz));
    let part = |counts: f64| has_edges.then(|| counts / amplitude);
    Ok(Some(Analog {
        samples: range.end - range.start,
        min: scale.value(levels.min),
        max: scale.value(levels.max),
        peak_to_peak: (levels.max - levels.min) * scale.per_count,
        mean,
        rms: mean.hypot(deviation),
        deviation,
        top: scale.value(levels.top),
        base: scale.value(levels.base),
        frequency_hz: found.and_then(|found| found.frequency_hz),
        rise: found.and_then(|found| found.rise),
        fall: found.and_then(|found| found.fall),
        overshoot: part(levels.max - levels.top),
        undershoot: part(levels.base - levels.min),
    }))
}

/// Passes on the counts of a range, a block at a time. False if it was ended.
fn each_part(
    segment: &AnalogSegment<'_>,
    range: &Range<u64>,
    turned: bool,
    go_on: &mut dyn FnMut() -> bool,
    part: &mut dyn FnMut(&[u16]),
) -> Result<bool, SegmentError> {
    let block = u64::from(ANALOG_BLOCK_SAMPLES);
    let mut counts = Vec::new();
    let mut at = range.start;
    while at < range.end {
        let to = ((at / block + 1) * block).min(range.end);
        counts.clear();
        segment.read(at, to, &mut counts)?;
        if turned {
            turn(&mut counts);
        }
        part(&counts);
        at = to;
        if !go_on() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Position of a sample as a number to calculate with.
fn position(sample: u64) -> f64 {
    float(sample)
}
