//! All channels of a capture in the order of time, for formats that tell changes.

use decode::analog::AnalogSegment;
use decode::segment::Edges;

use super::super::reader::Reader;
use super::{Content, ExportError};

/// Finest tick, as a power of ten in parts of a second: picoseconds.
const TICK_EXPONENT_MAX: u32 = 12;

/// Analog samples that are unpacked at a time.
const READ_SAMPLES: u64 = 1 << 16;

/// The unit of time: 10^-exponent seconds, the coarsest in which each sample has a whole number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tick {
    pub(super) exponent: u32,
}

impl Tick {
    pub(super) fn for_rates(rates_hz: &[f64]) -> Self {
        let fits = |exponent: &u32| {
            let ticks = 10_f64.powi(exponent.cast_signed());
            rates_hz.iter().all(|rate| (ticks / rate).fract() == 0.0)
        };
        let exponent = (0..TICK_EXPONENT_MAX).find(fits);
        Self {
            exponent: exponent.unwrap_or(TICK_EXPONENT_MAX),
        }
    }

    /// When a sample is, in ticks.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a capture lasts hours at most, which is below 2^53 ps; the product is positive"
    )]
    fn of(self, sample: u64, rate_hz: f64) -> u64 {
        (sample as f64 * 10_f64.powi(self.exponent.cast_signed()) / rate_hz).round() as u64
    }
}

/// What changes at one instant.
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
    use super::Tick;

    #[test]
    fn ticks_are_as_coarse_as_the_rates_allow() {
        for (rates, exponent) in [
            (&[1.0][..], 0),
            (&[200_000.0], 6),
            (&[1e6, 400_000.0], 7),
            (&[3e6], 12),
            (&[399_986.4], 12),
        ] {
            assert_eq!(Tick::for_rates(rates).exponent, exponent, "{rates:?}");
        }
        let tick = Tick { exponent: 12 };
        assert_eq!(tick.of(3, 3e6), 1_000_000);
        assert_eq!(tick.of(1, 3e6), 333_333);
    }
}
