//! A trace in the middle between two planes.

use std::f64::consts::{FRAC_PI_2, PI};

use super::{Line, elliptic};
use crate::fields::input::{self, InputError};
use crate::fields::{Estimate, Method, constants};

static THIN: Method = Method {
    id: "stripline-cohn-thin",
    formula: "Z0 = η0/(4√εr) · K(k)/K(k′), k = sech(πw/2b)",
    source: "Cohn: Characteristic Impedance of the Shielded-Strip Transmission Line, IRE Trans. MTT-2 (1954) 52-57",
    assumes: &[
        "one dielectric",
        "in the middle between its planes",
        "copper without thickness",
    ],
    range: "exact for all widths",
};

static THICK: Method = Method {
    id: "stripline-cohn-thick",
    formula: "Z0 = η0/(4√εr) / (w/(b−t) + C′f/(ε0 εr)), C′f/(ε0 εr) = (2x ln(x+1) − (x−1) ln(x²−1))/π, x = 1/(1−t/b)",
    source: "Cohn: Problems in Strip Transmission Lines, IRE Trans. MTT-3 (1955) 119-126",
    assumes: &[
        "one dielectric",
        "in the middle between its planes",
        "fringe fields of both edges apart",
    ],
    range: "w/(b−t) ≥ 0.35: 1.3 %",
};

/// Impedance of a stripline `width_m` wide and `thickness_m` thick, in the middle of planes `spacing_m` apart.
///
/// Exact without thickness (Cohn 1954); with thickness the wide-strip formula, outside whose range
/// [`Section`](crate::fields::section::Section) is the better choice.
pub fn stripline(
    width_m: f64,
    spacing_m: f64,
    thickness_m: f64,
    permittivity: f64,
) -> Result<Estimate<Line>, InputError> {
    let width = input::length("width (m)", width_m)?;
    let spacing = input::length("distance of the planes (m)", spacing_m)?;
    let er = input::permittivity(permittivity)?;
    let thickness = input::within("copper thickness (m)", thickness_m, 0.0, 0.9 * spacing)?;
    let scale = 0.25 * constants::IMPEDANCE / er.sqrt();
    let line = |impedance_ohm| Line {
        impedance_ohm,
        permittivity: er,
    };
    if thickness == 0.0 {
        let x = FRAC_PI_2 * width / spacing;
        // K(k)/K(k′) → π/2 / ln(4/k) for small k, to 16 digits long before cosh overflows.
        let ratio = if x > 100.0 {
            FRAC_PI_2 / (x + std::f64::consts::LN_2)
        } else {
            elliptic::ratio(x.cosh().recip(), x.tanh())
        };
        return Ok(Estimate::new(line(scale * ratio), &THIN));
    }
    // x − 1 and x² − 1 without the loss of digits for thin copper; the smallest numbers keep their product at 0.
    let excess = (thickness / (spacing - thickness)).max(f64::MIN_POSITIVE);
    let x = 1.0 + excess;
    let fringe = (2.0 * x * (x + 1.0).ln() - excess * (excess * (x + 1.0)).ln()) / PI;
    let ratio = width / (spacing - thickness);
    Ok(
        Estimate::new(line(scale / (ratio + fringe)), &THICK).at_least(
            "width / (spacing − thickness)",
            ratio,
            0.35,
        ),
    )
}
