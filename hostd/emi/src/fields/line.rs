//! Transmission lines in closed form: microstrip, stripline and coupled striplines. [`section`](super::section) solves
//! what these do not cover.

mod coupled;
mod elliptic;
mod microstrip;
mod stripline;

pub use coupled::coupled_stripline;
pub use microstrip::microstrip;
pub use stripline::stripline;

use serde::Serialize;

use super::constants::LIGHT_SPEED;

/// A line's impedance and how fast signals travel on it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Line {
    /// Characteristic impedance in Ω.
    pub impedance_ohm: f64,
    /// Effective relative permittivity: (c/v)².
    pub permittivity: f64,
}

impl Line {
    /// From inductance and capacitance per metre.
    pub(super) fn new(henry_per_m: f64, farad_per_m: f64) -> Self {
        Self {
            impedance_ohm: (henry_per_m / farad_per_m).sqrt(),
            permittivity: henry_per_m * farad_per_m * LIGHT_SPEED * LIGHT_SPEED,
        }
    }

    /// Delay in s per metre: √εeff / c.
    pub fn delay_s_per_m(&self) -> f64 {
        self.permittivity.sqrt() / LIGHT_SPEED
    }

    /// Inductance in H per metre: Z0 · delay.
    pub fn henry_per_m(&self) -> f64 {
        self.impedance_ohm * self.delay_s_per_m()
    }

    /// Capacitance in F per metre: delay / Z0.
    pub fn farad_per_m(&self) -> f64 {
        self.delay_s_per_m() / self.impedance_ohm
    }
}
