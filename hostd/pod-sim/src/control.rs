//! The control loop: at each tick the output moves towards the point of a curve that the input
//! selects.
//!
//! An order defines what the loop does. Whoever needs its state follows it tick by tick through the
//! real path: the ADC's samples, the routed input, and the output's own settling if it is looped
//! back.

use std::sync::Arc;

use super::frontend::Wires;

mod map;

pub(crate) use map::InputMap;

/// Entries of the table, which the input's top bits index.
pub(crate) const TABLE: usize = 2048;

/// Period of the 48 MHz tick clock: 125/6 ns.
const TICK_NS_OVER: u64 = 125;
const TICK_NS_UNDER: u64 = 6;

/// Full gain of `k`.
const GAIN_ONE: f64 = 32_768.0;

/// The ADC runs continuously at its fastest rate; the loop uses its latest sample.
const ADC_PERIOD_NS: u64 = 2_500;

/// Number of ticks that are followed one by one. Of earlier ticks only the resulting output
/// matters: even at the smallest gain, less than a thousandth of a step remains after this many.
const TICKS_FOLLOWED: u64 = 1 << 18;

/// Number of instants at which the ticks that are not followed are checked for an over-range input.
const TRIP_LOOKS: u64 = 1024;

/// With a fixed input, an output this close to its target has arrived.
const ARRIVED_CODES: f64 = 1e-6;

/// What indexes the curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    Adc,
    Fixed,
    Sweep,
}

impl Source {
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        match name {
            "adc" => Some(Self::Adc),
            "fixed" => Some(Self::Fixed),
            "sweep" => Some(Self::Sweep),
            _ => None,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Adc => "adc",
            Self::Fixed => "fixed",
            Self::Sweep => "sweep",
        }
    }
}

/// The settings of a loop.
#[derive(Debug, Clone)]
pub(crate) struct Loop {
    pub(crate) k: u16,
    pub(crate) vmin: u16,
    pub(crate) vmax: u16,
    pub(crate) tick_div: u16,
    pub(crate) table: Arc<[u16]>,
    pub(crate) source: Source,
    /// The fixed input, or the start of the sweep.
    pub(crate) input: u16,
    pub(crate) step: u16,
    pub(crate) map: Option<InputMap>,
    pub(crate) start_ns: u64,
    /// Whether it had tripped before this order changed its input.
    pub(crate) tripped: bool,
}

impl Loop {
    fn tick_ns(&self, tick: u64) -> u64 {
        let clocks = tick * u64::from(self.tick_div);
        self.start_ns + (clocks * TICK_NS_OVER).div_ceil(TICK_NS_UNDER)
    }

    fn ticks_at(&self, at_ns: u64) -> u64 {
        let elapsed_ns = at_ns.saturating_sub(self.start_ns);
        elapsed_ns * TICK_NS_UNDER / (TICK_NS_OVER * u64::from(self.tick_div))
    }

    fn gain(&self) -> f64 {
        f64::from(self.k) / GAIN_ONE
    }

    fn clamp(&self, code: f64) -> f64 {
        code.clamp(f64::from(self.vmin), f64::from(self.vmax))
    }

    /// The value that indexes the curve at a tick, given this ADC count.
    fn indexed_by(&self, tick: u64, count: u16) -> u16 {
        match self.source {
            Source::Fixed => self.input,
            Source::Sweep => {
                let moved = tick.wrapping_mul(u64::from(self.step)) & 0xffff;
                let moved = u16::try_from(moved).expect("masked to 16 bits");
                self.input.wrapping_add(moved)
            }
            Source::Adc => self.map.as_ref().map_or(count, |map| map.input(count)),
        }
    }

    fn target(&self, tick: u64, count: u16) -> f64 {
        let entry = usize::from(self.indexed_by(tick, count) >> 5);
        f64::from(self.table[entry])
    }

    fn trips(&self, count: u16) -> bool {
        self.source == Source::Adc && self.map.as_ref().is_some_and(|map| map.trips(count))
    }
}

/// A running loop.
#[derive(Debug, Clone)]
pub(crate) struct LoopState {
    order: Loop,
    /// Number of ticks that have passed.
    ticks: u64,
    code: f64,
    /// When the ADC's latest sample was taken, and its count.
    sampled_ns: Option<u64>,
    count: u16,
    tripped: bool,
}

impl LoopState {
    /// A loop that takes over while the DAC is at `code`.
    pub(crate) fn new(order: Loop, code: u16) -> Self {
        let code = order.clamp(f64::from(code));
        Self {
            ticks: 0,
            code,
            sampled_ns: None,
            count: 0,
            tripped: order.tripped,
            order,
        }
    }

    pub(crate) fn order(&self) -> &Loop {
        &self.order
    }

    /// Whether the input went over range; the output then stays at its lower end.
    pub(crate) fn is_tripped(&self) -> bool {
        self.tripped
    }

    /// The DAC's code.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped to 16 bits by every tick"
    )]
    pub(crate) fn code(&self) -> u16 {
        self.code.round() as u16
    }

    /// When the next tick is due; `None` if it cannot change anything.
    pub(crate) fn next_tick_ns(&self) -> Option<u64> {
        (!self.tripped && !self.has_arrived()).then(|| self.order.tick_ns(self.ticks + 1))
    }

    fn has_arrived(&self) -> bool {
        let order = &self.order;
        order.source == Source::Fixed
            && (self.code - order.clamp(order.target(0, 0))).abs() < ARRIVED_CODES
    }

    /// The time of the sample that a tick uses.
    pub(crate) fn sample_ns_for(&self, tick_ns: u64) -> u64 {
        let elapsed_ns = tick_ns - self.order.start_ns;
        tick_ns - elapsed_ns % ADC_PERIOD_NS
    }

    /// One tick, with the output at `level` when the tick's sample is taken.
    pub(crate) fn tick(&mut self, wires: &mut Wires, sampled_ns: u64, level: f64) {
        if self.order.source == Source::Adc && self.sampled_ns != Some(sampled_ns) {
            self.sampled_ns = Some(sampled_ns);
            self.count = wires.count(level, sampled_ns);
            if self.order.trips(self.count) {
                self.trip();
                return;
            }
        }
        let target = self.order.target(self.ticks, self.count);
        let moved = self.code + (target - self.code) * self.order.gain();
        self.code = self.order.clamp(moved);
        self.ticks += 1;
    }

    fn trip(&mut self) {
        self.tripped = true;
        self.code = f64::from(self.order.vmin);
    }

    /// Skips the ticks that are too far before `to_ns` to be followed.
    pub(crate) fn skip_to(&mut self, wires: &mut Wires, level: f64, to_ns: u64) {
        let due = self.order.ticks_at(to_ns).saturating_sub(self.ticks);
        let skipped = due.saturating_sub(TICKS_FOLLOWED);
        if skipped == 0 || self.tripped {
            return;
        }
        if self.order.source == Source::Fixed {
            let target = self.order.target(0, 0);
            let left = left_after(self.order.gain(), skipped);
            self.code = self.order.clamp(target + (self.code - target) * left);
        }
        let watched = self.order.map.as_ref().is_some_and(InputMap::has_trip);
        if watched && self.order.source == Source::Adc {
            for look in 0..TRIP_LOOKS {
                let tick = self.ticks + skipped * look / TRIP_LOOKS;
                if self
                    .order
                    .trips(wires.count(level, self.order.tick_ns(tick)))
                {
                    self.trip();
                    return;
                }
            }
        }
        self.ticks += skipped;
    }

    /// The value that indexes the curve at an instant, when the ADC shows `count`.
    pub(crate) fn indexed_by(&self, count: u16, at_ns: u64) -> u16 {
        self.order.indexed_by(self.order.ticks_at(at_ns), count)
    }
}

/// The fraction of a step that remains after this many ticks.
#[allow(
    clippy::cast_precision_loss,
    reason = "of so many ticks nothing is left"
)]
fn left_after(gain: f64, ticks: u64) -> f64 {
    (1.0 - gain).powf(ticks as f64)
}

/// Spreads a curve over the table: entry j is point ⌊j · N / entries⌋, and the rest is the last
/// point.
pub(crate) fn table(points: &[u16], entries: usize) -> Arc<[u16]> {
    (0..TABLE)
        .map(|entry| points[(entry.min(entries - 1)) * points.len() / entries])
        .collect()
}

/// The curve of a pod that has not been given one: the output follows the input.
pub(crate) fn identity() -> Arc<[u16]> {
    (0..=u16::MAX).step_by(32).collect()
}

#[cfg(test)]
mod tests;
