//! A trace over a plane, in air.

use std::f64::consts::{E, PI, TAU};

use super::Line;
use crate::fields::input::{self, InputError};
use crate::fields::{Estimate, Method, constants};

static METHOD: Method = Method {
    id: "microstrip-hammerstad-jensen",
    formula: "Z01(u) = η0/2π · ln(f(u)/u + √(1+(2/u)²)); εeff = (εr+1)/2 + (εr−1)/2 · (1+10/u)^(−a(u)·b(εr)); \
              u corrected for thickness",
    source: "Hammerstad, Jensen: Accurate Models for Microstrip Computer-Aided Design, IEEE MTT-S 1980, 407-409",
    assumes: &[
        "no solder mask",
        "quasi-static (below the dispersion of thick substrates)",
        "plane much wider than the trace",
    ],
    range: "0.01 ≤ w/h ≤ 100, εr ≤ 128: 0.2 %; thickness up to half of the height and of the width",
};

/// Impedance and effective permittivity of a microstrip `width_m` wide and `thickness_m` thick, `height_m` over its plane.
///
/// Hammerstad and Jensen 1980 with their correction for thickness.
pub fn microstrip(
    width_m: f64,
    height_m: f64,
    thickness_m: f64,
    permittivity: f64,
) -> Result<Estimate<Line>, InputError> {
    let width = input::length("width (m)", width_m)?;
    let height = input::length("height (m)", height_m)?;
    let thickness = input::thickness(thickness_m)?;
    let er = input::permittivity(permittivity)?;
    let u = width / height;
    let t = thickness / height;
    // Thick copper acts as a wider trace, more so in air than in a dielectric.
    let wider = if t > 1e-12 {
        let tanh = (6.517 * u).sqrt().tanh();
        t / PI * (1.0 + 4.0 * E * tanh * tanh / t).ln()
    } else {
        0.0
    };
    let in_air = u + wider;
    let in_dielectric = u + 0.5 * wider * (1.0 + 1.0 / (er - 1.0).sqrt().cosh());
    let ratio = impedance_in_air(in_air) / impedance_in_air(in_dielectric);
    let effective = effective_permittivity(in_dielectric, er);
    let line = Line {
        impedance_ohm: impedance_in_air(in_dielectric) / effective.sqrt(),
        permittivity: effective * ratio * ratio,
    };
    Ok(Estimate::new(line, &METHOD)
        .at_least("width / height", u, 0.01)
        .at_most("width / height", u, 100.0)
        .at_most("thickness / height", t, 0.5)
        .at_most("thickness / width", thickness / width, 0.5)
        .at_most("relative permittivity", er, 128.0))
}

fn impedance_in_air(u: f64) -> f64 {
    let f = 6.0 + (TAU - 6.0) * (-(30.666 / u).powf(0.7528)).exp();
    constants::IMPEDANCE / TAU * (f / u + (1.0 + 4.0 / (u * u)).sqrt()).ln()
}

fn effective_permittivity(u: f64, er: f64) -> f64 {
    let u4 = u.powi(4);
    let a = 1.0
        + ((u4 + (u / 52.0).powi(2)) / (u4 + 0.432)).ln() / 49.0
        + (1.0 + (u / 18.1).powi(3)).ln() / 18.7;
    let b = 0.564 * ((er - 0.9) / (er + 3.0)).powf(0.053);
    0.5 * (er + 1.0) + 0.5 * (er - 1.0) * (1.0 + 10.0 / u).powf(-a * b)
}
