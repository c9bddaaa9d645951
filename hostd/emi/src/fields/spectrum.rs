//! Spectra of clocks: harmonics of trapezoids in rms, their envelope, and what spreading the clock takes off.

use std::f64::consts::PI;

use serde::Serialize;

use super::input::{self, InputError};
use super::{Estimate, Method};

/// Most harmonics of one clock that are given.
pub const HARMONICS_MAX: usize = 10_000;

static METHOD: Method = Method {
    id: "trapezoid-rms",
    formula: "I_n = √2 · I · d · |sinc(nπd)| · |sinc(nπ t_r f0)|, sinc(x) = sin(x)/x",
    source: "Fourier series; Paul: Introduction to Electromagnetic Compatibility, 2nd ed. 2006, section 3.1",
    assumes: &[
        "edges are straight lines of equal duration",
        "width is taken at half of the amplitude",
        "rms, since receivers are calibrated in rms of a sine",
    ],
    range: "rise time up to the shorter of pulse and pause",
};

static SPREAD: Method = Method {
    id: "spread-clock",
    formula: "reduction = 10·log10(2 · deviation · f_m / B²), B = max(bandwidth, f_m), at least 0 dB",
    source: "stationary phase: peak response of a filter of impulse bandwidth B to a linear sweep",
    assumes: &[
        "triangular modulation",
        "peak detector; quasi-peak and average read no more",
    ],
    range: "indication: within about 3 dB where the reduction is more than 6 dB",
};

/// A trapezoidal clock.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Trapezoid {
    /// Fundamental frequency.
    pub frequency_hz: f64,
    /// Duration of an edge from 0 to 100 %. An edge given from 10 to 90 % is 0.8 of it.
    pub rise_s: f64,
    /// Width at half of the amplitude, as a fraction of the period.
    pub duty: f64,
    /// From low to high, in any unit, such as A or V.
    pub amplitude: f64,
}

/// Modulation of a clock's frequency.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    /// Difference of highest and lowest frequency, as a fraction of the frequency.
    pub deviation: f64,
    /// How often the frequency goes up and down.
    pub modulation_hz: f64,
}

/// One line of a spectrum.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Harmonic {
    /// Order, from 1.
    pub order: u32,
    /// Frequency.
    pub frequency_hz: f64,
    /// Rms, in the unit of the clock's amplitude.
    pub rms: f64,
}

impl Trapezoid {
    /// How harmonics are computed.
    pub(super) fn method() -> &'static Method {
        &METHOD
    }

    fn check(&self) -> Result<(), InputError> {
        input::frequency(self.frequency_hz)?;
        input::within("duty", self.duty, 1e-6, 1.0 - 1e-6)?;
        input::within("amplitude", self.amplitude, 0.0, 1e6)?;
        input::within("rise time (s)", self.rise_s, 0.0, 1.0 / self.frequency_hz)?;
        Ok(())
    }

    /// Harmonics up to `highest_hz`, at most [`HARMONICS_MAX`] of them.
    pub fn harmonics(&self, highest_hz: f64) -> Result<Estimate<Vec<Harmonic>>, InputError> {
        self.check()?;
        let highest = input::frequency(highest_hz)?;
        let harmonics = (1u32..)
            .take(HARMONICS_MAX)
            .map(|order| (order, f64::from(order) * self.frequency_hz))
            // A harmonic at the highest frequency belongs to the range whatever rounding says.
            .take_while(|(_, frequency)| *frequency <= highest * (1.0 + 1e-12))
            .map(|(order, frequency_hz)| Harmonic {
                order,
                frequency_hz,
                rms: self.rms(f64::from(order)),
            })
            .collect();
        let shorter = self.duty.min(1.0 - self.duty) / self.frequency_hz;
        Ok(Estimate::new(harmonics, &METHOD)
            .at_most(
                "rise time / shorter of pulse and pause",
                self.rise_s / shorter,
                1.0,
            )
            .at_most(
                "harmonics",
                (highest / self.frequency_hz).floor(),
                HARMONICS_MAX as f64,
            ))
    }

    fn rms(&self, order: f64) -> f64 {
        std::f64::consts::SQRT_2
            * self.amplitude
            * self.duty
            * sinc(order * PI * self.duty)
            * sinc(order * PI * self.rise_s * self.frequency_hz)
    }

    /// Upper bound of all harmonics near `at_hz`, in rms: flat, then −20, then −40 dB a decade, with corners at
    /// f0/(πd) and 1/(π t_r).
    pub fn envelope(&self, at_hz: f64) -> Result<f64, InputError> {
        self.check()?;
        let order = input::frequency(at_hz)? / self.frequency_hz;
        let bound = |x: f64| if x > 1.0 { 1.0 / x } else { 1.0 };
        Ok(std::f64::consts::SQRT_2
            * self.amplitude
            * self.duty
            * bound(order * PI * self.duty)
            * bound(order * PI * self.rise_s * self.frequency_hz))
    }
}

/// Frequency above which the harmonics of edges of `rise_s` fall by 40 dB a decade: 1/(π·t_r).
pub fn knee_hz(rise_s: f64) -> Result<f64, InputError> {
    let rise = input::within("rise time (s)", rise_s, 1e-15, 1.0)?;
    Ok(1.0 / (PI * rise))
}

/// By how many dB spreading lowers what a receiver of impulse bandwidth `bandwidth_hz` reads of a harmonic at `at_hz`.
pub fn spread_reduction(
    spread: &Spread,
    at_hz: f64,
    bandwidth_hz: f64,
) -> Result<Estimate<f64>, InputError> {
    let at = input::frequency(at_hz)?;
    let bandwidth = input::within("bandwidth (Hz)", bandwidth_hz, 1.0, 1e9)?;
    let deviation = input::within("deviation of the spread clock", spread.deviation, 0.0, 0.1)?;
    let modulation = input::within("modulation (Hz)", spread.modulation_hz, 1.0, 1e7)?;
    let sweep = 2.0 * deviation * at * modulation;
    let wider = bandwidth.max(modulation);
    let reduction = 10.0 * (sweep / (wider * wider)).max(1.0).log10();
    Ok(Estimate::new(reduction, &SPREAD).at_most(
        "modulation / bandwidth",
        modulation / bandwidth,
        1.0,
    ))
}

/// How [`spread_reduction`] is computed.
pub(super) fn spread_method() -> &'static Method {
    &SPREAD
}

fn sinc(x: f64) -> f64 {
    let sin = x.sin().abs();
    if x.abs() < 1e-9 {
        1.0
    } else if sin <= 2.0 * f64::EPSILON * x.abs() {
        // Rounding of a multiple of π: such a harmonic does not exist.
        0.0
    } else {
        sin / x.abs()
    }
}
