//! Inductance of the loops through which capacitors are mounted.

use std::f64::consts::PI;

use super::constants::MAGNETIC;
use super::input::{self, InputError};
use super::{Estimate, Method};

static SHEET: Method = Method {
    id: "loop-between-sheets",
    formula: "L = µ0 · h · l / w",
    source: "field between parallel plates",
    assumes: &[
        "current spreads evenly over the width",
        "no field outside of the loop",
    ],
    range: "width of the conductor ≥ its height over the plane; an upper bound elsewhere",
};

static VIAS: Method = Method {
    id: "pair-of-vias",
    formula: "L = µ0·h/π · arcosh(s/d)",
    source: "exact inductance per length of two parallel round conductors (current on their surface)",
    assumes: &[
        "equal and opposite currents",
        "the planes at both ends close the loop",
    ],
    range: "vias between planes (both ends on planes, as images make them long): exact; otherwise height ≥ distance",
};

/// Inductance in H of a conductor `length_m` long and `width_m` wide, `height_m` over the plane that returns its current.
pub fn over_plane(length_m: f64, width_m: f64, height_m: f64) -> Result<Estimate<f64>, InputError> {
    let length = input::length("loop length (m)", length_m)?;
    let width = input::length("loop width (m)", width_m)?;
    let height = input::length("loop height (m)", height_m)?;
    Ok(
        Estimate::new(MAGNETIC * height * length / width, &SHEET).at_least(
            "width / height",
            width / height,
            1.0,
        ),
    )
}

/// Inductance in H of two vias `distance_m` apart between centres, `diameter_m` thick, over `height_m` of their length.
pub fn of_via_pair(
    height_m: f64,
    distance_m: f64,
    diameter_m: f64,
) -> Result<Estimate<f64>, InputError> {
    let height = input::length("via height (m)", height_m)?;
    let distance = input::length("distance of vias (m)", distance_m)?;
    let diameter = input::within("via diameter (m)", diameter_m, 1e-8, 0.99 * distance)?;
    Ok(Estimate::new(
        MAGNETIC * height / PI * (distance / diameter).acosh(),
        &VIAS,
    ))
}
