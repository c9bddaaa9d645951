//! The first reading of a file: the range of its analog values, and the coarsest rate at which no time is lost.
//!
//! Times that are whole multiples of a common period give that period. Rates that no decimal fits (24 MHz divided by 11) are
//! written rounded to the unit of time; then the slowest rate of a common clock is taken at which every time is the
//! nearest to a sample, if so many times are that it is no accident.

use super::ImportError;
use super::rate::{Rate, gcd};
use super::scale::{Scale, Values, is_value};
use super::source::{Known, Sink};

/// Clocks, in hertz, and how far they are divided: what analyzers and pods sample with.
const CLOCKS: [(u128, u128); 4] = [
    (24_000_000, 240),
    (48_000_000, 95),
    (100_000_000, 99),
    (1_000_000_000, 31),
];

/// Ticks of a sample, at least, of which rounded times can tell a rate.
const TICKS_MIN: u128 = 3;

/// How unlikely it must be that times fit a rate by accident, in bits.
const EVIDENCE_BITS: f64 = 40.0;

/// When one kind of channels changes.
struct Stamps {
    tick: Rate,
    common: u128,
    /// Clock rates that all times fit so far, slowest first.
    fitting: Vec<Rate>,
    count: u64,
    last: Option<u64>,
}

impl Stamps {
    fn new(tick: Rate) -> Self {
        let divided = CLOCKS
            .iter()
            .flat_map(|(clock, most)| (1..=*most).filter_map(|by| Rate::new(*clock, by)));
        let is_coarse =
            |rate: &Rate| ticks_of(*rate, tick).is_some_and(|(per, one)| per / one >= TICKS_MIN);
        let mut fitting: Vec<Rate> = divided.filter(is_coarse).collect();
        fitting.sort_by(|a, b| a.hz().total_cmp(&b.hz()));
        fitting.dedup();
        Self {
            tick,
            common: 0,
            fitting,
            count: 0,
            last: None,
        }
    }

    fn take(&mut self, at: u64) {
        self.last = Some(at);
        if at == 0 {
            return;
        }
        let at = u128::from(at);
        self.common = gcd(self.common, at);
        self.count += 1;
        let tick = self.tick;
        // Once all times are multiples of some ticks, no clock is needed to explain them.
        self.fitting.retain(|rate| is_near(at, *rate, tick));
    }

    fn rate(&self) -> Known {
        let ticks = self.common.max(1);
        let exact = Rate::new(self.tick.samples, self.tick.seconds.saturating_mul(ticks))
            .unwrap_or(self.tick);
        let is_sure = |rate: &&Rate| {
            let per_sample = self.tick.hz() / rate.hz();
            rate.hz() < exact.hz() && per_sample.log2() * self.count as f64 >= EVIDENCE_BITS
        };
        let rate = self.fitting.iter().find(is_sure).copied().unwrap_or(exact);
        Known {
            rate,
            samples: None,
        }
    }
}

/// Ticks of a sample, as a fraction.
fn ticks_of(rate: Rate, tick: Rate) -> Option<(u128, u128)> {
    let per = tick.samples.checked_mul(rate.seconds)?;
    Some((per, tick.seconds.checked_mul(rate.samples)?))
}

/// Whether a time is that of a sample, rounded to whole ticks.
fn is_near(at: u128, rate: Rate, tick: Rate) -> bool {
    let Some((per, one)) = ticks_of(rate, tick) else {
        return false;
    };
    let Some(scaled) = at.checked_mul(one) else {
        return false;
    };
    let over = scaled % per;
    // Half a tick, and what a sum of rounded numbers is off.
    over.min(per - over).saturating_mul(50) <= one.saturating_mul(26)
}

/// What is learned of a file.
pub(super) struct Survey {
    logic: Stamps,
    analog: Stamps,
    levels: Option<u64>,
    values: Values,
    /// Values that are no numbers.
    odd: u64,
}

impl Survey {
    pub(super) fn new(tick: Rate) -> Self {
        Self {
            logic: Stamps::new(tick),
            analog: Stamps::new(tick),
            levels: None,
            values: Values::default(),
            odd: 0,
        }
    }

    /// The file ends at this tick.
    pub(super) fn finish(&mut self, end: u64, notes: &mut Vec<String>) {
        // The end is a time, but nothing happens there.
        for stamps in [&mut self.logic, &mut self.analog] {
            let last = stamps.last;
            stamps.take(end);
            stamps.last = last;
        }
        if self.odd > 0 {
            notes.push(format!(
                "{} analog values are no numbers; the value before each was kept.",
                self.odd
            ));
        }
    }

    pub(super) fn logic_rate(&self) -> Known {
        self.logic.rate()
    }

    pub(super) fn analog_rate(&self) -> Known {
        self.analog.rate()
    }

    /// The last tick at which a logic channel changes.
    pub(super) fn last_logic(&self) -> Option<u64> {
        self.logic.last
    }

    /// Likewise of the analog channel.
    pub(super) fn last_analog(&self) -> Option<u64> {
        self.analog.last
    }

    /// What counts of the analog values mean.
    pub(super) fn scale(&self, notes: &mut Vec<String>) -> Scale {
        let (scale, is_exact) = self.values.scale();
        if !is_exact {
            let step = scale.full / 65_536.0;
            notes.push(format!(
                "Analog values were rounded to 16 bits, in steps of {step:.3e}."
            ));
        }
        scale
    }
}

impl Sink for Survey {
    fn samples(&mut self, _: &[u8], _: usize) -> Result<(), ImportError> {
        Ok(())
    }

    fn levels(&mut self, at: u64, levels: u64) -> Result<(), ImportError> {
        if self.levels != Some(levels) {
            self.levels = Some(levels);
            self.logic.take(at);
        }
        Ok(())
    }

    fn value(&mut self, at: u64, value: f64) -> Result<(), ImportError> {
        if !is_value(value) {
            self.odd += 1;
        } else if self.values.take(value) {
            self.analog.take(at);
        }
        Ok(())
    }
}
