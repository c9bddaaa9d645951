//! A dump's unit of time. Readers such as sigrok make a sample of each tick, so a tick much finer
//! than a sample turns a small capture into one that they cannot hold.
//!
//! If a decimal tick fits all samples exactly, it is used, and a viewer shows true times. Most pod
//! rates are 24 MHz divided by something and have none (12 MHz: 83.3 ns): then a tick is one sample,
//! or the largest part of one that fits both kinds of samples, and comments give the rates.

use super::super::timeline::{Tick, divider, is_of_clock};

/// Ticks per sample of the fastest channel: as many as readers handle easily. 16 MHz has 625.
const SAMPLE_TICKS_MAX: f64 = 1000.0;

/// Finest timescale of the format, as a power of ten in parts of a second: femtoseconds.
const EXPONENT_MAX: f64 = 15.0;

/// How a dump counts time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scale {
    pub(super) tick: Tick,
    /// Whether the timescale says how long a tick is.
    pub(super) is_exact: bool,
}

impl Scale {
    pub(super) fn for_rates(rates_hz: &[f64]) -> Self {
        let fastest_hz = rates_hz.iter().copied().fold(0.0, f64::max);
        let is_coarse = |tick: &Tick| tick.hz() / fastest_hz <= SAMPLE_TICKS_MAX;
        let decimal = Tick::exact(rates_hz).map(Tick::Decimal).filter(is_coarse);
        if let Some(tick) = decimal {
            return Self {
                tick,
                is_exact: true,
            };
        }
        let one_rate = rates_hz.iter().all(|rate| *rate == fastest_hz);
        let shared = (!one_rate && rates_hz.iter().all(|rate| is_of_clock(*rate))).then(|| {
            let dividers = rates_hz.iter().map(|rate| divider(*rate));
            Tick::Clock(dividers.fold(0, greatest_common_divisor))
        });
        let tick = shared.filter(is_coarse);
        Self {
            tick: tick.unwrap_or(Tick::Sample(fastest_hz)),
            is_exact: false,
        }
    }

    /// The unit of time in the format's words, 1, 10 or 100 of a unit: the length of a tick, or the
    /// nearest to it.
    pub(super) fn timescale(self) -> String {
        let exponent = match self.tick {
            Tick::Decimal(exponent) => exponent,
            Tick::Clock(_) | Tick::Sample(_) => nearest_exponent(self.tick.hz()),
        };
        let unit = ["s", "ms", "us", "ns", "ps", "fs"][exponent.div_ceil(3) as usize];
        let digits = 10_u32.pow(exponent.div_ceil(3) * 3 - exponent);
        format!("{digits} {unit}")
    }

    /// A rate, and the number of ticks between its samples.
    pub(super) fn told(self, rate_hz: f64) -> String {
        let ticks = match self.tick {
            Tick::Clock(periods) => divider(rate_hz) / periods,
            Tick::Decimal(_) | Tick::Sample(_) => self.tick.of(1, rate_hz),
        };
        let word = if ticks == 1 { "tick" } else { "ticks" };
        format!("{rate_hz} Hz, {ticks} {word} apart")
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to a few"
)]
fn nearest_exponent(hz: f64) -> u32 {
    hz.log10().round().clamp(0.0, EXPONENT_MAX) as u32
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    match b {
        0 => a,
        _ => greatest_common_divisor(b, a % b),
    }
}

#[cfg(test)]
mod tests {
    use super::{Scale, Tick};

    #[test]
    fn timescales_are_those_of_the_standard() {
        let scale = |exponent| {
            Scale {
                tick: Tick::Decimal(exponent),
                is_exact: true,
            }
            .timescale()
        };
        assert_eq!([0, 1, 2, 3].map(scale), ["1 s", "100 ms", "10 ms", "1 ms"]);
        assert_eq!([6, 7, 9, 12].map(scale), ["1 us", "100 ns", "1 ns", "1 ps"]);
    }

    #[test]
    fn a_tick_is_exact_or_the_sample_or_fits_both() {
        for (rates, tick, timescale) in [
            (&[1e6][..], Tick::Decimal(6), "1 us"),
            (&[400_000.0], Tick::Decimal(7), "100 ns"),
            (&[1e6, 400_000.0], Tick::Decimal(7), "100 ns"),
            (&[16e6], Tick::Decimal(10), "100 ps"),
            // Exact would be 10 ps, 3125 of them a sample.
            (&[32e6], Tick::Sample(32e6), "10 ns"),
            (&[24e6], Tick::Sample(24e6), "100 ns"),
            (&[12e6], Tick::Sample(12e6), "100 ns"),
            (&[3e6], Tick::Sample(3e6), "1 us"),
            (&[2.4e6], Tick::Sample(2.4e6), "1 us"),
            (&[12e6, 400_000.0], Tick::Clock(2), "100 ns"),
            (&[2_181_818.0, 400_000.0], Tick::Clock(1), "100 ns"),
            // No clock has both.
            (&[3e6, 399_000.7], Tick::Sample(3e6), "1 us"),
            (&[0.3], Tick::Sample(0.3), "1 s"),
        ] {
            let scale = Scale::for_rates(rates);
            assert_eq!((scale.tick, &*scale.timescale()), (tick, timescale));
            let is_exact = matches!(tick, Tick::Decimal(_));
            assert_eq!(scale.is_exact, is_exact, "{rates:?}");
        }
    }

    #[test]
    fn rates_are_told_with_their_ticks() {
        let told = |rates: &[f64], rate| Scale::for_rates(rates).told(rate);
        assert_eq!(told(&[12e6], 12e6), "12000000 Hz, 1 tick apart");
        let both = [12e6, 400_000.0];
        assert_eq!(told(&both, 12e6), "12000000 Hz, 1 tick apart");
        assert_eq!(told(&both, 400_000.0), "400000 Hz, 30 ticks apart");
        assert_eq!(told(&[400_000.0], 400_000.0), "400000 Hz, 25 ticks apart");
    }
}
