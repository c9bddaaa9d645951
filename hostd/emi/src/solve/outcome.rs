//! Scattering parameters of a solved net.

use std::fmt::Write as _;

use rayon::prelude::*;
use serde::Serialize;

use super::Model;
use super::probe::{PROBES, Probe, ProbeError};
use crate::fields::Complex;

/// Frequencies of a result, evenly spaced.
const FREQUENCIES: u32 = 200;

/// Where less than this of the greatest wave goes in, nothing is said: 60 dB below.
const DRIVEN_MIN: f64 = 1e-3;

/// If more than this of a signal is left at the end, the solver ended too early: 5 %.
const REST_MAX: f64 = 0.05;

/// A reflection that is worth a word: −10 dB.
const MISMATCH_DB: f64 = -10.0;

/// A net as the solver sees it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outcome {
    /// Of this result.
    pub format_version: u32,
    /// The net's name.
    pub net: String,
    /// The pads that are its ports.
    pub ports: [String; 2],
    /// Impedance of source and load in Ω.
    pub port_ohm: f64,
    /// By frequency.
    pub points: Vec<PointOf>,
    /// The strongest reflection, in dB, and where.
    pub worst_s11_db: Option<(f64, f64)>,
    /// The lowest frequency at which more than −10 dB come back, in Hz.
    pub mismatched_from_hz: Option<f64>,
    /// What to know about it.
    pub notes: Vec<String>,
}

/// One frequency.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PointOf {
    /// Frequency in Hz.
    pub hz: f64,
    /// What comes back at the first port: real and imaginary part.
    pub s11: (f64, f64),
    /// What arrives at the second port.
    pub s21: (f64, f64),
    /// What the source sees, in Ω.
    pub ohm: (f64, f64),
}

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OutcomeError {
    /// A probe's file.
    #[error("the solver's file {probe}: {cause}")]
    Probe {
        /// Which.
        probe: &'static str,
        /// What is wrong with it.
        cause: ProbeError,
    },
    /// The source did nothing.
    #[error("the source of the model did not drive the net; its first pad may be short-circuited")]
    NotDriven,
}

impl Outcome {
    /// What the four probes of a model say, which are in the order of [`PROBES`].
    ///
    /// # Errors
    /// [`OutcomeError`] if a file is none, or the net was not driven.
    pub fn read(model: &Model, files: [&[u8]; 4]) -> Result<Self, OutcomeError> {
        let mut probes = Vec::with_capacity(files.len());
        for (probe, bytes) in PROBES.into_iter().zip(files) {
            let read = Probe::read(bytes);
            probes.push(read.map_err(|cause| OutcomeError::Probe { probe, cause })?);
        }
        let waves: Vec<Waves> = (1..=FREQUENCIES)
            .into_par_iter()
            .map(|index| {
                let hz = model.highest_hz * f64::from(index) / f64::from(FREQUENCIES);
                Waves::at(hz, &probes, model.port_ohm)
            })
            .collect();
        let most = waves.iter().map(|w| w.forward.abs()).fold(0.0, f64::max);
        let driven = waves
            .iter()
            .filter(|waves| DRIVEN_MIN * most < waves.forward.abs());
        let points: Vec<PointOf> = driven.filter_map(Waves::point).collect();
        if points.is_empty() {
            return Err(OutcomeError::NotDriven);
        }
        let mut notes = model.notes.clone();
        let rest = probes
            .iter()
            .step_by(2)
            .map(Probe::rest)
            .fold(0.0, f64::max);
        if REST_MAX < rest {
            notes.push(format!(
                "{:.0} % of a voltage were left when the solver ended: resonances are blurred",
                100.0 * rest
            ));
        }
        let of_11 = |point: &PointOf| (decibel(point.s11), point.hz);
        Ok(Self {
            format_version: 1,
            net: model.net.clone(),
            ports: model.ports.clone(),
            port_ohm: model.port_ohm,
            worst_s11_db: points.iter().map(of_11).max_by(|x, y| x.0.total_cmp(&y.0)),
            mismatched_from_hz: points
                .iter()
                .find(|point| MISMATCH_DB < decibel(point.s11))
                .map(|point| point.hz),
            points,
            notes,
        })
    }

    /// As JSON.
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// As a table for spreadsheets.
    pub fn csv(&self) -> String {
        let mut csv = "f_hz,s11_db,s21_db,s11_re,s11_im,s21_re,s21_im,r_ohm,x_ohm\n".to_owned();
        for PointOf { hz, s11, s21, ohm } in &self.points {
            let _ = writeln!(
                csv,
                "{hz},{:.3},{:.3},{:.6},{:.6},{:.6},{:.6},{:.3},{:.3}",
                decibel(*s11),
                decibel(*s21),
                s11.0,
                s11.1,
                s21.0,
                s21.1,
                ohm.0,
                ohm.1
            );
        }
        csv
    }
}

/// Waves at both ports.
struct Waves {
    hz: f64,
    forward: Complex,
    back: Complex,
    through: Complex,
    ohm: Complex,
}

impl Waves {
    fn at(hz: f64, probes: &[Probe], port_ohm: f64) -> Self {
        let [u1, i1, u2, i2] = [0, 1, 2, 3].map(|index| probes[index].at(hz));
        // Currents flow from the port into the net.
        Self {
            hz,
            forward: (u1 + i1 * port_ohm) * 0.5,
            back: (u1 - i1 * port_ohm) * 0.5,
            through: (u2 - i2 * port_ohm) * 0.5,
            ohm: u1 / i1,
        }
    }

    fn point(&self) -> Option<PointOf> {
        let pair = |value: Complex| (value.re, value.im);
        let (s11, s21) = (self.back / self.forward, self.through / self.forward);
        let all = [s11, s21, self.ohm];
        all.iter().all(|value| value.is_finite()).then(|| PointOf {
            hz: self.hz,
            s11: pair(s11),
            s21: pair(s21),
            ohm: pair(self.ohm),
        })
    }
}

fn decibel((re, im): (f64, f64)) -> f64 {
    20.0 * re.hypot(im).max(1e-12).log10()
}
