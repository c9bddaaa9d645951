//! Backward crosstalk between parallel traces.

use super::constants::LIGHT_SPEED;
use super::input::{self, InputError};
use super::{Estimate, Method};

static BACKWARD: Method = Method {
    id: "backward-crosstalk",
    formula: "coupling ≤ 1/(1+(s/h)²), times min(1, 2·l/(v·t_r))",
    source: "Johnson, Graham: High-Speed Digital Design, 1993, section 5.7",
    assumes: &[
        "both traces over one plane, ends matched",
        "the coefficient in front is taken as 1, its upper bound",
        "s between centres, h over the plane",
    ],
    range: "upper bound; the two-dimensional solver gives the coupling itself",
};

/// Length in m from which backward crosstalk no longer grows: t_r·v/2.
pub fn saturation_m(rise_s: f64, permittivity: f64) -> Result<f64, InputError> {
    let rise = input::within("rise time (s)", rise_s, 1e-15, 1.0)?;
    let effective = input::permittivity(permittivity)?;
    Ok(0.5 * rise * LIGHT_SPEED / effective.sqrt())
}

/// Upper bound of backward crosstalk, as a fraction of the aggressor's step, between traces whose centres are `pitch_m`
/// apart over `length_m`, `height_m` over their plane.
pub fn backward(
    pitch_m: f64,
    height_m: f64,
    length_m: f64,
    rise_s: f64,
    permittivity: f64,
) -> Result<Estimate<f64>, InputError> {
    let pitch = input::length("pitch of traces (m)", pitch_m)?;
    let height = input::length("height (m)", height_m)?;
    let length = input::within("coupled length (m)", length_m, 0.0, 100.0)?;
    let saturation = saturation_m(rise_s, permittivity)?;
    let full = 1.0 / (1.0 + (pitch / height).powi(2));
    Ok(Estimate::new(
        full * (length / saturation).min(1.0),
        &BACKWARD,
    ))
}
