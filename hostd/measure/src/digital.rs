//! A logic channel: edges, periods, pulses.

use std::ops::Range;

use decode::segment::{Segment, SegmentError};

use crate::stats::{Stats, Widths, float};

/// Edges between two questions whether to go on.
const EDGES_AT_ONCE: u32 = 1 << 16;

/// What a logic channel does in a range of samples.
///
/// An edge is at the first sample with the new level. A pulse counts when both of its edges are in the range, a period from
/// one rising edge to the next likewise.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Digital {
    /// Samples of the range that the capture has.
    pub samples: u64,
    /// Rising edges.
    pub rising: u64,
    /// Falling edges.
    pub falling: u64,
    /// Samples at which the channel is high.
    pub high_samples: u64,
    /// Whole periods by the time that they take together, in hertz.
    pub frequency_hz: Option<f64>,
    /// Part of that time at which the channel is high, 0 to 1.
    pub duty: Option<f64>,
    /// From one rising edge to the next.
    pub period: Option<Stats>,
    /// Widths of high pulses.
    pub high: Option<Stats>,
    /// Widths of low pulses.
    pub low: Option<Stats>,
}

/// Measures a channel in a range of samples.
///
/// # Errors
/// The segment is damaged, or has no such channel.
pub fn digital(
    segment: &Segment<'_>,
    channel: usize,
    range: Range<u64>,
) -> Result<Digital, SegmentError> {
    let measured = digital_while(segment, channel, range, &mut || true)?;
    Ok(measured.unwrap_or_default())
}

/// The same, as long as `go_on` says so; none when it did not.
///
/// # Errors
/// As [`digital`].
pub fn digital_while(
    segment: &Segment<'_>,
    channel: usize,
    range: Range<u64>,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Option<Digital>, SegmentError> {
    let end = range.end.min(segment.samples());
    let start = range.start.min(end);
    let first = segment.line(channel)?.level_at(start)?;
    let mut meter = Meter::new(start);
    // Level from the last edge on; before the first one, that of the sample before.
    let mut level = None;
    let mut toggles = segment.toggles(channel, start, end);
    loop {
        for _ in 0..EDGES_AT_ONCE {
            let Some(toggle) = toggles.next() else {
                let level = level.unwrap_or(first);
                return Ok(Some(meter.finish(level, end, segment.sample_rate_hz())));
            };
            let toggle = toggle?;
            let before = level.unwrap_or(first ^ (toggle == start));
            meter.edge(toggle, !before);
            level = Some(!before);
        }
        if !go_on() {
            return Ok(None);
        }
    }
}

/// Counts edges as they come.
struct Meter {
    start: u64,
    /// The last sample that was accounted for: the last edge.
    at: u64,
    rising: u64,
    falling: u64,
    high_samples: u64,
    /// The first and the last edge of each kind.
    first_rising: Option<u64>,
    last_rising: Option<u64>,
    last_edge: Option<u64>,
    /// High samples of whole periods, and of the one that has not ended.
    high_in_periods: u64,
    high_since_rising: u64,
    periods: Widths,
    highs: Widths,
    lows: Widths,
}

impl Meter {
    fn new(start: u64) -> Self {
        Self {
            start,
            at: start,
            rising: 0,
            falling: 0,
            high_samples: 0,
            first_rising: None,
            last_rising: None,
            last_edge: None,
            high_in_periods: 0,
            high_since_rising: 0,
            periods: Widths::default(),
            highs: Widths::default(),
            lows: Widths::default(),
        }
    }

    /// The channel has this level from a sample on.
    #[inline]
    fn edge(&mut self, sample: u64, level: bool) {
        let width = self.last_edge.map(|last| sample - last);
        if level {
            self.rising += 1;
            if let Some(width) = width {
                self.lows.add(width);
            }
            if let Some(last) = self.last_rising {
                self.periods.add(sample - last);
                self.high_in_periods += self.high_since_rising;
            }
            self.first_rising.get_or_insert(sample);
            self.last_rising = Some(sample);
        } else {
            self.falling += 1;
            self.high_samples += sample - self.at;
            if let Some(width) = width {
                self.highs.add(width);
                self.high_since_rising = width;
            }
        }
        self.at = sample;
        self.last_edge = Some(sample);
    }

    fn finish(mut self, level: bool, end: u64, rate_hz: f64) -> Digital {
        if level {
            self.high_samples += end - self.at;
        }
        let span = self.last_rising.zip(self.first_rising);
        let span = span.map(|(last, first)| float(last - first));
        let span = span.filter(|&span| span > 0.0);
        let second = 1.0 / rate_hz;
        Digital {
            samples: end - self.start,
            rising: self.rising,
            falling: self.falling,
            high_samples: self.high_samples,
            frequency_hz: span.map(|span| float(self.rising - 1) * rate_hz / span),
            duty: span.map(|span| float(self.high_in_periods) / span),
            period: self.periods.stats(second),
            high: self.highs.stats(second),
            low: self.lows.stats(second),
        }
    }
}
