//! Two equal traces beside each other in the middle between two planes.

use std::f64::consts::FRAC_PI_2;

use super::{Line, elliptic};
use crate::fields::input::{self, InputError};
use crate::fields::{Estimate, Method, constants};

static METHOD: Method = Method {
    id: "coupled-stripline-cohn",
    formula: "Z0 = η0/(4√εr) · K(k′)/K(k); even: k = tanh(πw/2b)·tanh(π(w+s)/2b), odd: k = tanh(πw/2b)·coth(π(w+s)/2b)",
    source: "Cohn: Shielded Coupled-Strip Transmission Line, IRE Trans. MTT-3 (1955) 29-38",
    assumes: &[
        "one dielectric",
        "in the middle between their planes",
        "copper without thickness",
    ],
    range: "exact for all widths and gaps",
};

/// Even and odd mode of two striplines `width_m` wide, `gap_m` apart, without thickness, in the middle of planes
/// `spacing_m` apart.
///
/// Widths and gaps up to 10 times the distance of the planes; beyond that the modes no longer differ.
pub fn coupled_stripline(
    width_m: f64,
    gap_m: f64,
    spacing_m: f64,
    permittivity: f64,
) -> Result<Estimate<(Line, Line)>, InputError> {
    let spacing = input::length("distance of the planes (m)", spacing_m)?;
    let width = input::within("width (m)", width_m, 1e-8, 10.0 * spacing)?;
    let gap = input::within("gap (m)", gap_m, 1e-8, 10.0 * spacing)?;
    let er = input::permittivity(permittivity)?;
    let scale = 0.25 * constants::IMPEDANCE / er.sqrt();
    let strip = FRAC_PI_2 * width / spacing;
    let both = FRAC_PI_2 * (width + gap) / spacing;
    let line = |k: f64, square_of_complement: f64| Line {
        impedance_ohm: scale * elliptic::ratio(square_of_complement.sqrt(), k),
        permittivity: er,
    };
    // 1 − k², without the loss of digits of the subtraction.
    let sech2 = |x: f64| x.cosh().powi(-2);
    let even_complement = sech2(strip) + sech2(both) - sech2(strip) * sech2(both);
    let odd_complement = (sech2(strip) - sech2(both)) / both.tanh().powi(2);
    let even = line(strip.tanh() * both.tanh(), even_complement);
    let odd = line(strip.tanh() / both.tanh(), odd_complement);
    Ok(Estimate::new((even, odd), &METHOD))
}
