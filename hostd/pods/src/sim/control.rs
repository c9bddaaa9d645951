//! The control loop: each tick the output moves towards the point of a curve that the input names.
//!
//! Like everything the DAC does it is a function of time, evaluated when somebody looks: in closed
//! form for a fixed input, over the last ticks (older ones no longer matter) for a moving one.

use std::sync::Arc;

use super::analog::AnalogSource;
use super::board::Fit;

mod commands;

pub(crate) use commands::{arm, input, probe};

/// Entries of the table the input's top bits index.
const TABLE: usize = 2048;

/// Clock of the ticks.
const CLOCK_MHZ: u64 = 48;

/// Full gain of `k`.
const GAIN_ONE: f64 = 32_768.0;

/// Ticks looked back for a moving input; what was before has died away at any usual gain.
const MEMORY_TICKS: u64 = 512;

/// What indexes the curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    Adc,
    Fixed,
    Sweep,
}

impl Source {
    fn from_name(name: &str) -> Option<Self> {
        match name {
            "adc" => Some(Self::Adc),
            "fixed" => Some(Self::Fixed),
            "sweep" => Some(Self::Sweep),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Adc => "adc",
            Self::Fixed => "fixed",
            Self::Sweep => "sweep",
        }
    }
}

/// A running loop.
#[derive(Debug, Clone)]
pub(crate) struct Loop {
    pub(super) k: u16,
    pub(super) vmin: u16,
    pub(super) vmax: u16,
    pub(super) tick_div: u16,
    pub(super) table: Arc<[u16]>,
    pub(super) source: Source,
    /// The held input, or where the sweep starts.
    pub(super) input: u16,
    pub(super) step: u16,
    pub(super) start_ns: u64,
    /// The output at the start.
    pub(super) from: u16,
    /// What the ADC sees: the front connector.
    pub(super) ext: AnalogSource,
    pub(super) fit: Fit,
    pub(super) seed: u64,
}

impl Loop {
    fn ticks(&self, at_ns: u64) -> u64 {
        at_ns.saturating_sub(self.start_ns) * CLOCK_MHZ / (1_000 * u64::from(self.tick_div))
    }

    /// What the ADC reads at an instant.
    pub(crate) fn count(&self, at_ns: u64) -> u16 {
        self.fit.count(self.ext.volts(self.seed, at_ns))
    }

    /// What indexes the curve at an instant.
    pub(crate) fn indexed_by(&self, at_ns: u64) -> u16 {
        self.input_at(self.ticks(at_ns))
    }

    fn input_at(&self, tick: u64) -> u16 {
        match self.source {
            Source::Fixed => self.input,
            Source::Sweep => {
                let moved = tick.wrapping_mul(u64::from(self.step)) & 0xffff;
                let moved = u16::try_from(moved).expect("masked to 16 bits");
                self.input.wrapping_add(moved)
            }
            Source::Adc => {
                let elapsed_ns = tick * u64::from(self.tick_div) * 1_000 / CLOCK_MHZ;
                self.count(self.start_ns + elapsed_ns)
            }
        }
    }

    fn target(&self, tick: u64) -> f64 {
        let entry = usize::from(self.input_at(tick) >> 5);
        f64::from(self.table[entry])
    }

    /// The DAC code at an instant.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "the code is clamped to 16 bits, and powers saturate"
    )]
    pub(crate) fn code(&self, at_ns: u64) -> u16 {
        let gain = f64::from(self.k) / GAIN_ONE;
        let ticks = self.ticks(at_ns);
        let (low, high) = (f64::from(self.vmin), f64::from(self.vmax));
        let start = f64::from(self.from).clamp(low, high);
        let code = if self.source == Source::Fixed {
            let target = self.target(0);
            target + (start - target) * (1.0 - gain).powf(ticks as f64)
        } else {
            let first = ticks.saturating_sub(MEMORY_TICKS);
            let mut code = if first == 0 {
                start
            } else {
                self.target(first)
            };
            for tick in first..ticks {
                code = (code + (self.target(tick) - code) * gain).clamp(low, high);
            }
            code
        };
        code.round().clamp(low, high) as u16
    }
}

/// Spreads a curve over the table: entry j is point ⌊j · N / 2048⌋.
fn table(points: &[u16]) -> Arc<[u16]> {
    (0..TABLE)
        .map(|entry| points[entry * points.len() / TABLE])
        .collect()
}

/// The table of a pod that never had a curve: the output follows the input.
pub(crate) fn identity() -> Arc<[u16]> {
    (0..=u16::MAX).step_by(32).collect()
}

#[cfg(test)]
mod tests;
