//! All channels of a capture in time order, for formats that record changes.

use std::ops::Range;

use decode::analog::AnalogSegment;
use decode::segment::Edges;
use pods::protocol::rates::SAMPLE_CLOCK_HZ;

use super::super::reader::Reader;
use super::ExportError;
use super::cut::Cut;

/// Analog samples unpacked at a time.
const READ_SAMPLES: u64 = 1 << 16;

/// Finest tick that is looked for, as a power of ten in parts of a second: picoseconds.
pub(super) const EXPONENT_MAX: u32 = 12;

/// Halvings of a hertz that a rate is given in, at most. More of them tell apart no two samples.
const HALVINGS_MAX: u32 = 60;

/// A sample rate as a fraction: so many samples in so many seconds. What is computed from it is exact, however long a
/// capture is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rate {
    samples: u128,
    seconds: u128,
}

/// What the rates of a capture mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Timing {
    /// All are divided from the clock of pods.
    is_of_clock: bool,
}

/// How a file counts time: in ticks of 10^-exponent seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ticks {
    pub(super) exponent: u32,
    timing: Timing,
}

impl Timing {
    /// Of a capture with channels of these rates. Pods report the integer part of a rate, and samples of two rates would
    /// move apart by what is left out; what they divide their clock by is exact. One rate is taken as it is said.
    pub(super) fn of(rates_hz: &[f64]) -> Self {
        let is_one = rates_hz.windows(2).all(|pair| pair[0] == pair[1]);
        Self {
            is_of_clock: !is_one && rates_hz.iter().all(|rate| is_of_clock(*rate)),
        }
    }

    /// The exact rate of a channel.
    pub(super) fn rate(self, rate_hz: f64) -> Rate {
        if self.is_of_clock {
            return Rate {
                samples: SAMPLE_CLOCK_HZ.into(),
                seconds: divider(rate_hz).into(),
            };
        }
        let (mut samples, mut halvings) = (rate_hz, 0);
        while samples.fract() != 0.0 && halvings < HALVINGS_MAX {
            samples *= 2.0;
            halvings += 1;
        }
        Rate {
            samples: whole(samples).max(1).into(),
            seconds: 1 << halvings,
        }
    }
}

impl Rate {
    /// The first sample of a channel with the rate `of` that is not before a sample of this one.
    pub(super) fn place(self, sample: u64, of: Self) -> u64 {
        let scaled = u128::from(sample)
            .saturating_mul(self.seconds)
            .saturating_mul(of.samples);
        narrow(scaled.div_ceil(self.samples.saturating_mul(of.seconds)))
    }
}

impl Ticks {
    pub(super) fn new(exponent: u32, rates_hz: &[f64]) -> Self {
        Self {
            exponent,
            timing: Timing::of(rates_hz),
        }
    }

    /// The coarsest decimal tick that puts every sample of these rates on a whole number.
    pub(super) fn exact(rates_hz: &[f64]) -> Option<Self> {
        let timing = Timing::of(rates_hz);
        let fits = |exponent: &u32| {
            let mut rates = rates_hz.iter().map(|rate| timing.rate(*rate));
            let ticks = 10_u128.pow(*exponent);
            rates.all(|rate| (rate.seconds * ticks).is_multiple_of(rate.samples))
        };
        let exponent = (0..=EXPONENT_MAX).find(fits)?;
        Some(Self { exponent, timing })
    }

    /// Ticks in a second.
    pub(super) fn hz(self) -> f64 {
        10_f64.powi(self.exponent.cast_signed())
    }

    /// The exact rate of a channel.
    pub(super) fn rate(self, rate_hz: f64) -> Rate {
        self.timing.rate(rate_hz)
    }

    /// The exact rate of a channel in hertz, as a fraction where it is that of the clock.
    pub(super) fn exact_hz(self, rate_hz: f64) -> String {
        match self.rate(rate_hz) {
            Rate { samples, seconds } if self.timing.is_of_clock => format!("{samples}/{seconds}"),
            _ => rate_hz.to_string(),
        }
    }

    /// When a sample is: the nearest tick.
    pub(super) fn of(self, sample: u64, rate: Rate) -> u64 {
        self.soon(sample, rate)
            .unwrap_or_else(|| self.late(sample, rate))
    }

    /// The same where 64 bits are enough, which is as good as always: dividing 128 takes longer than all else.
    fn soon(self, sample: u64, rate: Rate) -> Option<u64> {
        let step = u64::try_from(rate.seconds).ok()?;
        let step = step.checked_mul(10_u64.checked_pow(self.exponent)?)?;
        let samples = u64::try_from(rate.samples).ok()?;
        let scaled = sample.checked_mul(step)?.checked_add(samples / 2)?;
        scaled.checked_div(samples)
    }

    fn late(self, sample: u64, rate: Rate) -> u64 {
        let scaled = u128::from(sample)
            .saturating_mul(rate.seconds)
            .saturating_mul(10_u128.pow(self.exponent));
        narrow(scaled.saturating_add(rate.samples / 2) / rate.samples)
    }
}

fn narrow(ticks: u128) -> u64 {
    u64::try_from(ticks).unwrap_or(u64::MAX)
}

/// What the clock of pods is divided by for a rate.
fn divider(rate_hz: f64) -> u64 {
    whole(clock_hz() / rate_hz).max(1)
}

/// Whether a pod reports this rate for some divider: the clock divided, or the integer part of
/// that.
fn is_of_clock(rate_hz: f64) -> bool {
    let exact = clock_hz() / float(divider(rate_hz));
    (exact - rate_hz).abs() < 1e-6 || (exact.floor() - rate_hz).abs() < 1e-6
}

fn clock_hz() -> f64 {
    float(SAMPLE_CLOCK_HZ)
}

#[expect(
    clippy::cast_precision_loss,
    reason = "clocks, their dividers and rates are far below 2^53"
)]
pub(super) fn float(count: u64) -> f64 {
    count as f64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "rates and what they are divided into are positive; a cast saturates"
)]
pub(super) fn whole(value: f64) -> u64 {
    value.round() as u64
}

/// The changes at one instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    /// In ticks.
    pub(super) at: u64,
    /// Levels of the logic channels from here on, bit `i` being channel `i`.
    pub(super) levels: Option<u64>,
    /// The analog sample that is here.
    pub(super) count: Option<u16>,
}

/// Where a file ends, in ticks.
pub(super) fn end(reader: &Reader, cut: &Cut, ticks: Ticks) -> Result<u64, ExportError> {
    let mut end = 0;
    if cut.has_logic() {
        let rate = ticks.rate(reader.logic()?.sample_rate_hz());
        end = ticks.of(cut.logic_samples(), rate);
    }
    if cut.has_analog() {
        let rate = ticks.rate(reader.analog()?.sample_rate_hz());
        end = end.max(ticks.of(cut.analog_samples(), rate));
    }
    Ok(end)
}

/// Show what happens to `take`, from the first sample on; returns the end, in ticks.
pub(super) fn walk(
    reader: &Reader,
    cut: &Cut,
    ticks: Ticks,
    mut take: impl FnMut(Step) -> Result<(), ExportError>,
) -> Result<u64, ExportError> {
    let logic = cut.has_logic().then(|| reader.logic()).transpose()?;
    let analog = cut.has_analog().then(|| reader.analog()).transpose()?;
    let end = end(reader, cut, ticks)?;
    let mut edges = None;
    if let Some(segment) = &logic {
        let rate = ticks.rate(segment.sample_rate_hz());
        edges = Some(LogicSteps {
            rest: cut.edges(segment),
            cut,
            rate,
            next: Some((0, cut.first_levels(reader)?)),
        });
    }
    let mut samples = None;
    if let Some(segment) = analog {
        let rate = ticks.rate(segment.sample_rate_hz());
        samples = Some(AnalogSteps::new(segment, cut.analog_range(), rate)?);
    }
    loop {
        let logic_at = edges.as_ref().and_then(|e| e.at(ticks));
        let analog_at = samples.as_ref().and_then(|s| s.at(ticks));
        let Some(at) = logic_at.into_iter().chain(analog_at).min() else {
            return Ok(end);
        };
        let levels = edges.as_mut().filter(|_| logic_at == Some(at));
        let count = samples.as_mut().filter(|_| analog_at == Some(at));
        take(Step {
            at,
            levels: levels.map(LogicSteps::advance).transpose()?.flatten(),
            count: count.map(AnalogSteps::advance).transpose()?.flatten(),
        })?;
    }
}

struct LogicSteps<'s> {
    rest: Edges<'s>,
    cut: &'s Cut,
    rate: Rate,
    next: Option<(u64, u64)>,
}

impl LogicSteps<'_> {
    fn at(&self, ticks: Ticks) -> Option<u64> {
        Some(ticks.of(self.next?.0, self.rate))
    }

    fn advance(&mut self) -> Result<Option<u64>, ExportError> {
        let now = self.next.map(|(_, levels)| levels);
        let next = self.rest.next().transpose()?;
        self.next = next.map(|(sample, levels)| (self.cut.moved(sample), levels));
        Ok(now)
    }
}

struct AnalogSteps<'s> {
    segment: AnalogSegment<'s>,
    rate: Rate,
    range: Range<u64>,
    /// Sample number of the first of `counts`, and which of them is next.
    start: u64,
    index: usize,
    counts: Vec<u16>,
}

impl<'s> AnalogSteps<'s> {
    fn new(segment: AnalogSegment<'s>, range: Range<u64>, rate: Rate) -> Result<Self, ExportError> {
        let mut steps = Self {
            segment,
            rate,
            start: range.start,
            index: 0,
            counts: Vec::new(),
            range,
        };
        steps.read(steps.start)?;
        Ok(steps)
    }

    fn read(&mut self, from: u64) -> Result<(), ExportError> {
        self.counts.clear();
        (self.start, self.index) = (from, 0);
        let to = self.range.end.min(from + READ_SAMPLES);
        Ok(self.segment.read(from, to, &mut self.counts)?)
    }

    fn at(&self, ticks: Ticks) -> Option<u64> {
        let sample = self.start - self.range.start + self.index as u64;
        (self.index < self.counts.len()).then(|| ticks.of(sample, self.rate))
    }

    fn advance(&mut self) -> Result<Option<u16>, ExportError> {
        let now = self.counts.get(self.index).copied();
        self.index += 1;
        if self.index == self.counts.len() {
            self.read(self.start + self.index as u64)?;
        }
        Ok(now)
    }
}

#[cfg(test)]
mod tests {
    use super::{Ticks, Timing, is_of_clock};

    #[test]
    fn ticks_are_as_coarse_as_the_rates_allow() {
        for (rates, exponent) in [
            (&[1.0][..], Some(0)),
            (&[200_000.0], Some(6)),
            (&[1e6, 400_000.0], Some(7)),
            (&[0.5], Some(0)),
            (&[3e6], None),
            (&[399_986.4], None),
        ] {
            let exact = Ticks::exact(rates).map(|ticks| ticks.exponent);
            assert_eq!(exact, exponent, "{rates:?}");
        }
    }

    #[test]
    fn samples_are_at_the_nearest_tick() {
        let at = |exponent, sample, rate_hz| {
            let ticks = Ticks::new(exponent, &[rate_hz]);
            ticks.of(sample, ticks.rate(rate_hz))
        };
        assert_eq!(at(12, 3, 3e6), 1_000_000);
        assert_eq!([1, 2].map(|sample| at(12, sample, 3e6)), [333_333, 666_667]);
        assert_eq!(at(9, 1, 2.4e6), 417);
        // Days later it is as exact.
        let days = 3_000_000 * 86_400 * 30;
        assert_eq!(at(9, days + 1, 3e6), 86_400 * 30 * 1_000_000_000 + 333);
        assert_eq!(at(9, 3, 0.3), 10_000_000_000);
        assert_eq!(at(9, 3_999_864, 399_986.4), 10_000_000_000);
    }

    #[test]
    fn the_integer_part_of_a_rate_does_not_add_up() {
        // 24 MHz / 11 and / 60, which coincide at every sixtieth and eleventh sample.
        assert!(is_of_clock(2_181_818.0) && is_of_clock(400_000.0));
        assert!(!is_of_clock(2_181_000.0));
        let ticks = Ticks::new(9, &[2_181_818.0, 400_000.0]);
        let at = |sample, rate_hz| ticks.of(sample, ticks.rate(rate_hz));
        assert_eq!(at(11_000_000, 400_000.0), at(60_000_000, 2_181_818.0));
        // Alone it is what it is said to be.
        let alone = Ticks::new(9, &[2_181_818.0]);
        assert_eq!(alone.of(2_181_818, alone.rate(2_181_818.0)), 1_000_000_000);
    }

    #[test]
    fn a_slower_sample_has_its_place_among_faster_ones() {
        let timing = Timing::of(&[1e6, 400_000.0]);
        let (fast, slow) = (timing.rate(1e6), timing.rate(400_000.0));
        let places = [0, 1, 2, 3, 4].map(|sample| slow.place(sample, fast));
        assert_eq!(places, [0, 3, 5, 8, 10]);
        assert_eq!(fast.place(7, fast), 7);
    }
}
