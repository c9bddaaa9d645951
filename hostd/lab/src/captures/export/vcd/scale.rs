//! A dump's unit of time. If a decimal tick fits all samples exactly, it is used; most rates of pods are 24 MHz divided by
//! something and have none (12 MHz: 83.3 ns). Then each time is rounded to nanoseconds, and a comment says so.
//!
//! Readers such as sigrok make a sample of each tick, so a tick much finer than a sample turns a small capture into one
//! that they cannot hold: slow captures are counted in coarser ticks.

use super::super::timeline::Ticks;

/// Ticks between two samples of the fastest channel, at most: as many as readers handle easily. 16 MHz has 625.
const SAMPLE_TICKS_MAX: f64 = 1000.0;

/// The fewest where times are rounded: a time is off by a twentieth of a sample at most, and no two are the same.
const SAMPLE_TICKS_MIN: f64 = 10.0;

/// The tick where times are rounded, unless samples are too near or too far apart: nanoseconds.
const EXPONENT: u32 = 9;

/// Finest timescale of the format, as a power of ten in parts of a second: femtoseconds.
const EXPONENT_MAX: u32 = 15;

/// How a dump counts time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct Scale {
    pub(in super::super) ticks: Ticks,
    /// Whether all samples are at whole ticks.
    pub(super) is_exact: bool,
}

impl Scale {
    pub(in super::super) fn for_rates(rates_hz: &[f64]) -> Self {
        let fastest_hz = rates_hz.iter().copied().fold(0.0, f64::max);
        let between = |ticks: Ticks| ticks.hz() / fastest_hz;
        let exact = Ticks::exact(rates_hz).filter(|ticks| between(*ticks) <= SAMPLE_TICKS_MAX);
        if let Some(ticks) = exact {
            return Self {
                ticks,
                is_exact: true,
            };
        }
        let at = |exponent| Ticks::new(exponent, rates_hz);
        let mut exponent = EXPONENT;
        while exponent > 0 && between(at(exponent)) > SAMPLE_TICKS_MAX {
            exponent -= 1;
        }
        while exponent < EXPONENT_MAX && between(at(exponent)) < SAMPLE_TICKS_MIN {
            exponent += 1;
        }
        Self {
            ticks: at(exponent),
            is_exact: false,
        }
    }

    /// The unit of time in the format's words, 1, 10 or 100 of a unit.
    pub(super) fn timescale(self) -> String {
        let exponent = self.ticks.exponent;
        let unit = ["s", "ms", "us", "ns", "ps", "fs"][exponent.div_ceil(3) as usize];
        let digits = 10_u32.pow(exponent.div_ceil(3) * 3 - exponent);
        format!("{digits} {unit}")
    }

    /// The exact rate, in hertz: a fraction where it is that of a clock.
    pub(in super::super) fn exact(self, rate_hz: f64) -> String {
        self.ticks.exact_hz(rate_hz)
    }

    /// A rate, and the number of ticks between its samples.
    pub(super) fn described(self, rate_hz: f64) -> String {
        let thousandths = self.ticks.of(1000, self.ticks.rate(rate_hz));
        let (whole, part) = (thousandths / 1000, thousandths % 1000);
        let ticks = match part {
            0 => whole.to_string(),
            _ => format!("{whole}.{part:03}"),
        };
        let word = if ticks == "1" { "tick" } else { "ticks" };
        format!("{rate_hz} Hz, {ticks} {word} apart")
    }
}

#[cfg(test)]
mod tests {
    use super::{Scale, Ticks};

    #[test]
    fn timescales_are_those_of_the_standard() {
        let scale = |exponent| {
            Scale {
                ticks: Ticks::new(exponent, &[1.0]),
                is_exact: true,
            }
            .timescale()
        };
        assert_eq!([0, 1, 2, 3].map(scale), ["1 s", "100 ms", "10 ms", "1 ms"]);
        assert_eq!([6, 7, 9, 12].map(scale), ["1 us", "100 ns", "1 ns", "1 ps"]);
        assert_eq!(scale(15), "1 fs");
    }

    #[test]
    fn a_tick_is_exact_or_a_nanosecond_or_near_it() {
        for (rates, timescale, is_exact) in [
            (&[1e6][..], "1 us", true),
            (&[400_000.0], "100 ns", true),
            (&[1e6, 400_000.0], "100 ns", true),
            (&[16e6], "100 ps", true),
            (&[100e6], "10 ns", true),
            // Exact would be 10 ps, 3125 of them a sample.
            (&[32e6], "1 ns", false),
            (&[24e6], "1 ns", false),
            (&[12e6], "1 ns", false),
            (&[6e6], "1 ns", false),
            (&[4.8e6], "1 ns", false),
            (&[3e6], "1 ns", false),
            (&[2.4e6], "1 ns", false),
            (&[2_181_818.0], "1 ns", false),
            (&[12e6, 400_000.0], "1 ns", false),
            (&[2_181_818.0, 400_000.0], "1 ns", false),
            (&[3e6, 399_000.7], "1 ns", false),
            // Nearer together than ten of them, and farther apart than a thousand.
            (&[150e6], "100 ps", false),
            (&[3e9], "10 ps", false),
            (&[70e9], "1 ps", false),
            (&[900_000.0], "10 ns", false),
            (&[30_000.0], "100 ns", false),
            (&[0.3], "10 ms", false),
        ] {
            let scale = Scale::for_rates(rates);
            let found = (&*scale.timescale(), scale.is_exact);
            assert_eq!(found, (timescale, is_exact), "{rates:?}");
        }
    }

    #[test]
    fn rates_are_described_with_their_ticks() {
        let described = |rates: &[f64], rate| Scale::for_rates(rates).described(rate);
        let exact = |rates: &[f64], rate| Scale::for_rates(rates).exact(rate);
        let divided = [2_181_818.0, 400_000.0];
        assert_eq!(exact(&divided, 2_181_818.0), "24000000/11");
        assert_eq!(exact(&[2_181_818.0], 2_181_818.0), "2181818");
        assert_eq!(described(&[12e6], 12e6), "12000000 Hz, 83.333 ticks apart");
        let both = [1e6, 400_000.0];
        assert_eq!(described(&both, 1e6), "1000000 Hz, 10 ticks apart");
        assert_eq!(described(&both, 400_000.0), "400000 Hz, 25 ticks apart");
        assert_eq!(described(&[1e6], 1e6), "1000000 Hz, 1 tick apart");
    }
}
