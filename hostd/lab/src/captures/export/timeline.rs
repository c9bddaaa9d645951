//! All channels of a capture in time order, for formats that record changes.

use decode::analog::AnalogSegment;
use decode::segment::Edges;
use pods::protocol::rates::SAMPLE_CLOCK_HZ;

use super::super::reader::Reader;
use super::{Content, ExportError};

/// Analog samples unpacked at a time.
const READ_SAMPLES: u64 = 1 << 16;

/// The unit of time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Tick {
    /// 10^-exponent seconds.
    Decimal(u32),
    /// This many periods of the clock that pods divide for all their rates.
    Clock(u64),
    /// One sample at this rate.
    Sample(f64),
}

impl Tick {
    /// Finest decimal tick, as a power of ten in parts of a second: picoseconds.
    pub(super) const EXPONENT_MAX: u32 = 12;

    /// The coarsest decimal tick that puts every sample of these rates on a whole number.
    pub(super) fn exact(rates_hz: &[f64]) -> Option<u32> {
        let fits = |exponent: &u32| {
            let ticks = Self::Decimal(*exponent).hz();
            rates_hz.iter().all(|rate| (ticks / rate).fract() == 0.0)
        };
        (0..=Self::EXPONENT_MAX).find(fits)
    }

    /// Ticks in a second.
    pub(super) fn hz(self) -> f64 {
        match self {
            Self::Decimal(exponent) => 10_f64.powi(exponent.cast_signed()),
            Self::Clock(periods) => clock_hz() / float(periods),
            Self::Sample(rate_hz) => rate_hz,
        }
    }

    /// When a sample is, in ticks.
    pub(super) fn of(self, sample: u64, rate_hz: f64) -> u64 {
        match self {
            // Pods report the integer part of a rate, an error that adds up; its divider is exact.
            Self::Clock(periods) => sample * divider(rate_hz) / periods,
            Self::Decimal(_) | Self::Sample(_) => whole(float(sample) * self.hz() / rate_hz),
        }
    }
}

/// What the clock of pods is divided by for a rate.
pub(super) fn divider(rate_hz: f64) -> u64 {
    whole(clock_hz() / rate_hz)
}

/// Whether a pod reports this rate for some divider: the clock divided, or the integer part of
/// that.
pub(super) fn is_of_clock(rate_hz: f64) -> bool {
    let exact = clock_hz() / float(divider(rate_hz).max(1));
    (exact - rate_hz).abs() < 1e-6 || (exact.floor() - rate_hz).abs() < 1e-6
}

fn clock_hz() -> f64 {
    float(SAMPLE_CLOCK_HZ)
}

#[expect(
    clippy::cast_precision_loss,
    reason = "clocks and counts of samples are far below 2^53"
)]
fn float(count: u64) -> f64 {
    count as f64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a capture lasts hours at most, which is below 2^53 ps; the value is positive"
)]
fn whole(value: f64) -> u64 {
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

/// Show what happens to `take`, from the first sample on; returns the end, in ticks.
pub(super) fn walk(
    reader: &Reader,
    content: Content,
    tick: Tick,
    mut take: impl FnMut(Step) -> Result<(), ExportError>,
) -> Result<u64, ExportError> {
    let logic = (content != Content::Analog)
        .then(|| reader.logic())
        .transpose()?;
    let analog = (content != Content::Logic)
        .then(|| reader.analog())
        .transpose()?;
    let channels: Vec<usize> = (0..logic.as_ref().map_or(0, |s| s.channels())).collect();
    let mut end = 0;
    let mut edges = None;
    if let Some(segment) = &logic {
        let rate_hz = segment.sample_rate_hz();
        end = tick.of(segment.samples(), rate_hz);
        let rest = segment.edges(&channels, 1, segment.samples());
        edges = Some(LogicSteps {
            rest,
            rate_hz,
            next: Some((0, reader.first_levels()?)),
        });
    }
    let mut samples = None;
    if let Some(segment) = analog {
        end = end.max(tick.of(segment.samples(), segment.sample_rate_hz()));
        samples = Some(AnalogSteps::new(segment)?);
    }
    loop {
        let logic_at = edges.as_ref().and_then(|e| e.at(tick));
        let analog_at = samples.as_ref().and_then(|s| s.at(tick));
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
    rate_hz: f64,
    next: Option<(u64, u64)>,
}

impl LogicSteps<'_> {
    fn at(&self, tick: Tick) -> Option<u64> {
        Some(tick.of(self.next?.0, self.rate_hz))
    }

    fn advance(&mut self) -> Result<Option<u64>, ExportError> {
        let now = self.next.map(|(_, levels)| levels);
        self.next = self.rest.next().transpose()?;
        Ok(now)
    }
}

struct AnalogSteps<'s> {
    segment: AnalogSegment<'s>,
    /// Sample number of the first of `counts`, and which of them is next.
    start: u64,
    index: usize,
    counts: Vec<u16>,
}

impl<'s> AnalogSteps<'s> {
    fn new(segment: AnalogSegment<'s>) -> Result<Self, ExportError> {
        let mut steps = Self {
            segment,
            start: 0,
            index: 0,
            counts: Vec::new(),
        };
        steps.read(0)?;
        Ok(steps)
    }

    fn read(&mut self, from: u64) -> Result<(), ExportError> {
        self.counts.clear();
        (self.start, self.index) = (from, 0);
        let to = from + READ_SAMPLES;
        Ok(self.segment.read(from, to, &mut self.counts)?)
    }

    fn at(&self, tick: Tick) -> Option<u64> {
        let sample = self.start + self.index as u64;
        (self.index < self.counts.len()).then(|| tick.of(sample, self.segment.sample_rate_hz()))
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
    use super::{Tick, is_of_clock};

    #[test]
    fn ticks_are_as_coarse_as_the_rates_allow() {
        for (rates, exponent) in [
            (&[1.0][..], Some(0)),
            (&[200_000.0], Some(6)),
            (&[1e6, 400_000.0], Some(7)),
            (&[3e6], None),
            (&[399_986.4], None),
        ] {
            assert_eq!(Tick::exact(rates), exponent, "{rates:?}");
        }
    }

    #[test]
    fn samples_are_at_the_nearest_tick() {
        let picoseconds = Tick::Decimal(12);
        assert_eq!(picoseconds.of(3, 3e6), 1_000_000);
        assert_eq!(picoseconds.of(1, 3e6), 333_333);
        assert_eq!(Tick::Sample(2.4e6).of(4_194_304, 2.4e6), 4_194_304);
        assert_eq!(Tick::Sample(3e6).of(1, 2e6), 2);
    }

    #[test]
    fn the_integer_part_of_a_rate_does_not_add_up() {
        // 24 MHz / 11 and / 60, which coincide at every eleventh and sixtieth sample.
        assert!(is_of_clock(2_181_818.0) && is_of_clock(400_000.0));
        assert!(!is_of_clock(2_181_000.0));
        let tick = Tick::Clock(1);
        assert_eq!(tick.of(4_194_304, 2_181_818.0), 4_194_304 * 11);
        assert_eq!(tick.of(11, 400_000.0), tick.of(60, 2_181_818.0));
    }
}
