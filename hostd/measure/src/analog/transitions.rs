//! Where a signal crosses levels, between two samples: periods, rise and fall.

use super::position;
use crate::stats::{Stats, Widths};

/// How far beyond the middle the signal must have been, as a part of its amplitude, for a crossing to count.
const HYSTERESIS: f64 = 0.1;

/// Where rise and fall begin and end.
const LOW_PART: f64 = 0.1;
const HIGH_PART: f64 = 0.9;

/// Steps of a sample in which rise and fall are counted.
const STEPS: f64 = 256.0;

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Found {
    pub(super) frequency_hz: Option<f64>,
    pub(super) rise: Option<Stats>,
    pub(super) fall: Option<Stats>,
}

/// Takes samples as they come.
pub(super) struct Transitions {
    middle: f64,
    /// Where it counts as below and as above the middle.
    below: f64,
    above: f64,
    low: f64,
    high: f64,
    /// Number of the next sample, and the one before it.
    at: u64,
    last: Option<f64>,
    /// It was last seen below (or above) the middle, clearly.
    is_below: bool,
    /// Where it rose through the middle last.
    risen: Option<f64>,
    first_period: Option<f64>,
    last_period: f64,
    periods: u64,
    /// Where it rose through the low level, or fell through the high one, last.
    rising_since: Option<f64>,
    falling_since: Option<f64>,
    rises: Widths,
    falls: Widths,
}

impl Transitions {
    pub(super) fn new(base: f64, top: f64) -> Self {
        let level = |part: f64| base + part * (top - base);
        Self {
            middle: level(0.5),
            below: level(0.5 - HYSTERESIS),
            above: level(0.5 + HYSTERESIS),
            low: level(LOW_PART),
            high: level(HIGH_PART),
            at: 0,
            last: None,
            is_below: false,
            risen: None,
            first_period: None,
            last_period: 0.0,
            periods: 0,
            rising_since: None,
            falling_since: None,
            rises: Widths::default(),
            falls: Widths::default(),
        }
    }

    pub(super) fn add(&mut self, counts: &[u16]) {
        for &count in counts {
            let now = f64::from(count);
            if let Some(last) = self.last.filter(|&last| last != now) {
                self.step(last, now);
            }
            if now <= self.below {
                self.is_below = true;
            }
            self.last = Some(now);
            self.at += 1;
        }
    }

    /// From one sample to the next.
    fn step(&mut self, last: f64, now: f64) {
        let before = position(self.at - 1);
        let crossing = |level: f64| before + (level - last) / (now - last);
        let rises_through = |level: f64| last < level && level <= now;
        let falls_through = |level: f64| last > level && level >= now;
        if rises_through(self.middle) {
            self.risen = Some(crossing(self.middle));
        }
        if now >= self.above && self.is_below {
            self.is_below = false;
            if let Some(risen) = self.risen {
                self.first_period.get_or_insert(risen);
                self.last_period = risen;
                self.periods += 1;
            }
        }
        if rises_through(self.low) {
            self.rising_since = Some(crossing(self.low));
        }
        if rises_through(self.high)
            && let Some(since) = self.rising_since.take()
        {
            self.rises.add(steps(crossing(self.high) - since));
        }
        if falls_through(self.high) {
            self.falling_since = Some(crossing(self.high));
        }
        if falls_through(self.low)
            && let Some(since) = self.falling_since.take()
        {
            self.falls.add(steps(crossing(self.low) - since));
        }
    }

    pub(super) fn found(&self, rate_hz: f64) -> Found {
        let span = self.first_period.map(|first| self.last_period - first);
        let span = span.filter(|&span| span > 0.0);
        let second = 1.0 / (rate_hz * STEPS);
        Found {
            frequency_hz: span.map(|span| position(self.periods - 1) * rate_hz / span),
            rise: self.rises.stats(second),
            fall: self.falls.stats(second),
        }
    }
}

/// A time in samples as whole steps.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a later crossing is not before an earlier one, and captures are short"
)]
fn steps(samples: f64) -> u64 {
    (samples * STEPS).round() as u64
}
