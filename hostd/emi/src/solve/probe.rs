//! What a probe of openEMS wrote: times and values, one pair a line.

use crate::fields::Complex;

/// The files of the probes: voltage and current of the first port, and of the second.
pub const PROBES: [&str; 4] = [
    "port_1_voltage",
    "port_1_current",
    "port_2_voltage",
    "port_2_current",
];

/// Most bytes of a probe's file.
const BYTES_MAX: usize = 256 << 20;

/// Most samples of a probe.
const SAMPLES_MAX: usize = 4_000_000;

/// Why a probe's file cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProbeError {
    /// It is too long.
    #[error("it has more than {BYTES_MAX} bytes or {SAMPLES_MAX} samples")]
    TooLong,
    /// It is no text.
    #[error("it is not UTF-8")]
    NoText,
    /// A line is no time and value, or a time does not come after the one before.
    #[error("line {0} is no later time with its value")]
    Line(usize),
    /// There is too little in it.
    #[error("it has {0} samples; the solver ended too early")]
    TooShort(usize),
}

/// Samples of a probe.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Probe {
    samples: Vec<(f64, f64)>,
}

impl Probe {
    pub(super) fn read(bytes: &[u8]) -> Result<Self, ProbeError> {
        if bytes.len() > BYTES_MAX {
            return Err(ProbeError::TooLong);
        }
        let text = std::str::from_utf8(bytes).map_err(|_| ProbeError::NoText)?;
        let mut samples: Vec<(f64, f64)> = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('%') {
                continue;
            }
            let sample = sample(line).filter(|(time, _)| {
                let last = samples.last().map(|(time, _)| *time);
                last.is_none_or(|last| last < *time)
            });
            samples.push(sample.ok_or(ProbeError::Line(index + 1))?);
            if samples.len() > SAMPLES_MAX {
                return Err(ProbeError::TooLong);
            }
        }
        if samples.len() < 10 {
            return Err(ProbeError::TooShort(samples.len()));
        }
        Ok(Self { samples })
    }

    /// Its part at a frequency: ∫ value · e^(−jωt) dt, by the trapezoidal rule.
    pub(super) fn at(&self, hz: f64) -> Complex {
        let omega = std::f64::consts::TAU * hz;
        let term = |(time, value): (f64, f64)| Complex::unit(-omega * time) * value;
        let mut sum = Complex::ZERO;
        for pair in self.samples.windows(2) {
            sum += (term(pair[0]) + term(pair[1])) * (0.5 * (pair[1].0 - pair[0].0));
        }
        sum
    }

    /// The greatest value of the last tenth, as a part of the greatest of all: what had not died away.
    pub(super) fn rest(&self) -> f64 {
        let greatest = |samples: &[(f64, f64)]| {
            let values = samples.iter().map(|(_, value)| value.abs());
            values.fold(0.0, f64::max)
        };
        let all = greatest(&self.samples);
        let last = &self.samples[self.samples.len() - self.samples.len() / 10..];
        if 0.0 < all { greatest(last) / all } else { 0.0 }
    }
}

fn sample(line: &str) -> Option<(f64, f64)> {
    let mut words = line.split_whitespace();
    let mut number = || words.next()?.parse::<f64>().ok().filter(|n| n.is_finite());
    Some((number()?, number()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_openems_writes_is_read() {
        let mut text =
            "% time-domain voltage integration by openEMS v0.0.35\n% t/s\tvoltage\n0\t-0\n"
                .to_owned();
        for index in 1..100 {
            text += &format!("{}e-12\t{}\n", index, f64::from(index).sin());
        }
        assert_eq!(Probe::read(text.as_bytes()).unwrap().samples.len(), 100);
    }

    #[test]
    fn what_is_none_is_refused() {
        let read = |text: &str| Probe::read(text.as_bytes()).unwrap_err();
        assert_eq!(read(""), ProbeError::TooShort(0));
        assert_eq!(read("0 1\n1 2\n"), ProbeError::TooShort(2));
        assert_eq!(read("0 1\n0 2\n"), ProbeError::Line(2));
        assert_eq!(read("% x\n0 nan\n"), ProbeError::Line(2));
        assert_eq!(read("0\n"), ProbeError::Line(1));
        assert_eq!(Probe::read(b"\xff"), Err(ProbeError::NoText));
    }

    #[test]
    fn a_pulse_has_the_spectrum_that_it_should() {
        // e^(−t/τ) from 0 on: τ/(1 + jωτ).
        let tau = 1e-9;
        let text: String = (0..20_000)
            .map(|i| {
                let time = f64::from(i) * 1e-12;
                format!("{time:e} {:e}\n", (-time / tau).exp())
            })
            .collect();
        let probe = Probe::read(text.as_bytes()).unwrap();
        for hz in [1e8, 1e9, 5e9] {
            let omega = std::f64::consts::TAU * hz;
            let exact = Complex::from(tau) / Complex::new(1.0, omega * tau);
            assert!((probe.at(hz) - exact).abs() < 1e-3 * exact.abs());
        }
        assert!(probe.rest() < 1e-6);
    }
}
