//! A waveform's valid names and contents.

use super::signal::Span;
use super::{WaveformError, invalid};
use store::waveforms::{Output, Segment};

/// Longest name, in characters.
const NAME_CHARS_MAX: usize = 128;

/// Highest sample rate that makes sense as a number.
const RATE_HZ_MAX: f64 = 1e9;

/// Rates are above this one, in Hz: lengths and speeds of slower ones may be no numbers.
const RATE_HZ_MIN: f64 = 1e-6;

/// Highest level that makes sense as a number, in volts or milliamps.
const FULL_SCALE_MAX: f64 = 1e6;

/// Segments of one waveform.
pub const SEGMENTS_MAX: usize = 256;

/// Longest segment, and longest waveform of segments.
const DURATION_MS_MAX: f64 = 3_600_000.0;

/// How far levels of the 4-20 mA output may lie outside its nominal range: real pods differ a
/// little.
const CURRENT_SLACK_MA: f64 = 0.5;

/// Lowest and highest rate for drawing segments: within what DACs can do, and enough for anything
/// drawn by hand.
const RATE_HZ: (f64, f64) = (1_000.0, 100_000.0);

/// Samples that segments should fit into: the small memory of a pod.
const SEGMENT_SAMPLES: f64 = 2048.0;

pub(super) fn name(name: &str) -> Result<(), WaveformError> {
    let chars = name.chars().count();
    if !(1..=NAME_CHARS_MAX).contains(&chars) || name.chars().any(char::is_control) {
        let message =
            format!("must be 1 to {NAME_CHARS_MAX} characters without control characters");
        return Err(invalid("name", message));
    }
    Ok(())
}

/// Old records have 0 for an unknown rate, at which nothing can be played.
pub(super) fn rate(field: &'static str, rate_hz: f64) -> Result<(), WaveformError> {
    if RATE_HZ_MIN < rate_hz && rate_hz <= RATE_HZ_MAX {
        return Ok(());
    }
    Err(invalid(
        field,
        format!("must be above {RATE_HZ_MIN} and at most {RATE_HZ_MAX} Hz"),
    ))
}

pub(super) fn full_scale(level: f64) -> Result<(), WaveformError> {
    if level > 0.0 && level <= FULL_SCALE_MAX {
        return Ok(());
    }
    let message = format!("must be above 0 and at most {FULL_SCALE_MAX}");
    Err(invalid("full_scale_v", message))
}

pub(super) fn segments(output: Output, segments: &[Segment]) -> Result<(), WaveformError> {
    if !(1..=SEGMENTS_MAX).contains(&segments.len()) {
        return Err(invalid(
            "segments",
            format!("must have 1 to {SEGMENTS_MAX} items"),
        ));
    }
    let span = Span::of(output);
    let slack = match output {
        Output::Current => CURRENT_SLACK_MA,
        Output::V3 | Output::V5 | Output::V12 => 0.0,
    };
    let levels = (span.low - slack)..=(span.high + slack);
    let mut sum_ms = 0.0;
    for (index, segment) in segments.iter().enumerate() {
        if !(segment.duration_ms > 0.0 && segment.duration_ms <= DURATION_MS_MAX) {
            let message =
                format!("item {index}: duration_ms must be above 0 and at most {DURATION_MS_MAX}");
            return Err(invalid("segments", message));
        }
        for level in [segment.from_level, segment.to_level] {
            if !levels.contains(&level) {
                let (low, high) = (levels.start(), levels.end());
                let message = format!(
                    "item {index}: levels must be {low} to {high} on {}",
                    output.name()
                );
                return Err(invalid("segments", message));
            }
        }
        sum_ms += segment.duration_ms;
    }
    if sum_ms > DURATION_MS_MAX {
        let message = format!("must take at most {DURATION_MS_MAX} ms together");
        return Err(invalid("segments", message));
    }
    Ok(())
}

/// The rate at which segments are drawn: as high as fits a pod's small memory, within what DACs can
/// do.
#[must_use]
pub fn segments_rate_hz(segments: &[Segment]) -> f64 {
    let seconds: f64 = segments.iter().map(|s| s.duration_ms / 1000.0).sum();
    // Each segment may be rounded up by a sample.
    let roundings = f64::from(u32::try_from(segments.len()).unwrap_or(u32::MAX));
    ((SEGMENT_SAMPLES - roundings) / seconds).clamp(RATE_HZ.0, RATE_HZ.1)
}
