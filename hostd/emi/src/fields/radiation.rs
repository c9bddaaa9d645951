//! What small loops and short wires radiate.

use serde::Serialize;

use super::constants::{LIGHT_SPEED, MAGNETIC, wavelength};
use super::input::{self, InputError};
use super::{Estimate, Method};

static LOOP: Method = Method {
    id: "loop-far-field",
    formula: "E = 120π² · A · I / (λ² · r) = 1.317e-14 · f² · A · I / r",
    source: "far field of a small loop; Ott: Electromagnetic Compatibility Engineering, 2009, section 12.1",
    assumes: &[
        "the same current everywhere in the loop",
        "free space, direction of strongest radiation",
        "a plane under the loop is not counted as a shield",
    ],
    range: "length of the loop's conductor ≤ λ/10, distance ≥ λ/2π",
};

static LOOP_REFLECTED: Method = Method {
    id: "loop-far-field-reflected",
    formula: "E = 2 · 120π² · A · I / (λ² · r) = 263e-16 · f² · A · I / r",
    source: "Ott: Electromagnetic Compatibility Engineering, 2009, equation 12-2",
    assumes: &[
        "the same current everywhere in the loop",
        "direction of strongest radiation",
        "the test site's floor reflects in phase",
        "a plane under the loop is not counted as a shield",
    ],
    range: "length of the loop's conductor ≤ λ/10, distance ≥ λ/2π",
};

static WIRE: Method = Method {
    id: "short-wire",
    formula: "E = µ0 · f · L · I / r = 1.257e-6 · f · L · I / r",
    source: "Paul: Introduction to Electromagnetic Compatibility, 2nd ed. 2006, section 8.1; Ott 2009, section 12.2",
    assumes: &[
        "the same current along the whole wire",
        "reflection from the floor counted: twice the field of a short dipole",
    ],
    range: "length ≤ λ/10, distance ≥ λ/2π; above that use the thin-wire solver",
};

/// Whether the floor of the test site is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Site {
    /// Free space, as in a fully anechoic room.
    FreeSpace,
    /// A floor that doubles the field, the worst case of a scan over height.
    Reflecting,
}

/// A current loop on a board.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CurrentLoop {
    /// Area between the conductor and its return.
    pub area_m2: f64,
    /// Length of the conductor, which decides whether the formula holds.
    pub length_m: f64,
}

/// Greatest field in V/m of a loop that carries `current_a`, `distance_m` away.
pub fn loop_field(
    current_loop: &CurrentLoop,
    current_a: f64,
    frequency_hz: f64,
    distance_m: f64,
    site: Site,
) -> Result<Estimate<f64>, InputError> {
    let area = input::within("loop area (m²)", current_loop.area_m2, 0.0, 10.0)?;
    let length = input::within("loop length (m)", current_loop.length_m, 0.0, 100.0)?;
    let current = input::current(current_a)?;
    let frequency = input::frequency(frequency_hz)?;
    let distance = input::distance(distance_m)?;
    let lambda = wavelength(frequency, 1.0);
    let pi2 = std::f64::consts::PI.powi(2);
    // η0·π/λ² = 120π²/λ² with η0 = 120π.
    let free = 120.0 * pi2 * area * current / (lambda * lambda * distance);
    let field = match site {
        Site::FreeSpace => free,
        Site::Reflecting => 2.0 * free,
    };
    let estimate = Estimate::new(field, loop_method(site));
    Ok(far_and_short(estimate, length, lambda, distance))
}

/// How [`loop_field`] computes.
pub(super) fn loop_method(site: Site) -> &'static Method {
    match site {
        Site::FreeSpace => &LOOP,
        Site::Reflecting => &LOOP_REFLECTED,
    }
}

/// Greatest field in V/m of a straight wire `length_m` long that carries `current_a` everywhere, `distance_m` away,
/// reflection from the floor counted.
pub fn wire_field(
    length_m: f64,
    current_a: f64,
    frequency_hz: f64,
    distance_m: f64,
) -> Result<Estimate<f64>, InputError> {
    let length = input::within("wire length (m)", length_m, 0.0, 100.0)?;
    let current = input::current(current_a)?;
    let frequency = input::frequency(frequency_hz)?;
    let distance = input::distance(distance_m)?;
    let field = MAGNETIC * frequency * length * current / distance;
    let lambda = LIGHT_SPEED / frequency;
    Ok(far_and_short(
        Estimate::new(field, &WIRE),
        length,
        lambda,
        distance,
    ))
}

/// Common-mode current in A that gives a field of `volts_per_m`: the inverse of [`wire_field`].
pub fn wire_current(
    length_m: f64,
    volts_per_m: f64,
    frequency_hz: f64,
    distance_m: f64,
) -> Result<Estimate<f64>, InputError> {
    let length = input::within("wire length (m)", length_m, 1e-6, 100.0)?;
    let field = input::within("field (V/m)", volts_per_m, 0.0, 1e6)?;
    let mut estimate = wire_field(length, 1.0, frequency_hz, distance_m)?;
    estimate.value = field / estimate.value;
    Ok(estimate)
}

fn far_and_short(
    estimate: Estimate<f64>,
    length: f64,
    lambda: f64,
    distance: f64,
) -> Estimate<f64> {
    let near = lambda / std::f64::consts::TAU;
    estimate
        .at_most("conductor length / wavelength", length / lambda, 0.1)
        .at_least("distance / (wavelength / 2π)", distance / near, 1.0)
}

/// Sum of fields of one driver. Its loops carry the same current at the same time, so that amplitudes add: the worst
/// case, since directions and delays are not counted.
pub fn of_one_driver(fields: impl IntoIterator<Item = f64>) -> f64 {
    fields.into_iter().sum()
}

/// Sum of fields of several drivers at one frequency. Their phases are independent, so that powers add.
pub fn of_several_drivers(fields: impl IntoIterator<Item = f64>) -> f64 {
    fields
        .into_iter()
        .map(|field| field * field)
        .sum::<f64>()
        .sqrt()
}
