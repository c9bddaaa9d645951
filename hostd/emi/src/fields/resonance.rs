//! Resonances: cables, stubs and cavities between planes.

use serde::Serialize;

use super::constants::LIGHT_SPEED;
use super::input::{self, InputError};
use super::{Estimate, Method};

/// Most resonances that are given of one object.
pub const RESONANCES_MAX: usize = 1_000;

static CABLE: Method = Method {
    id: "cable-resonance",
    formula: "f_n = n·c/(4L): n odd with one end open, n even with both ends alike",
    source: "resonance of a line",
    assumes: &[
        "straight cable in air",
        "its ends are wide open or joined to a large body",
    ],
    range: "end effects lower resonances by some per cent",
};

static STUB: Method = Method {
    id: "stub-resonance",
    formula: "f = c/(4·L·√εeff), odd multiples",
    source: "resonance of an open line",
    assumes: &[
        "the stub's end is open",
        "pads at the end add length that is not counted",
    ],
    range: "stub much longer than its width",
};

static CAVITY: Method = Method {
    id: "plane-cavity",
    formula: "f_mn = c/(2√εr) · √((m/a)² + (n/b)²)",
    source: "rectangular cavity with open (magnetic) walls",
    assumes: &[
        "two rectangular planes of equal size",
        "nothing between them but the dielectric",
    ],
    range: "distance of the planes much smaller than a and b",
};

/// How the ends of a cable are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ends {
    /// One end is joined to a large body or driven against ground, the other hangs: λ/4, 3λ/4, …
    OneOpen,
    /// Both hang, or both are joined to ground: λ/2, λ, …
    Alike,
}

/// A mode between two planes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Mode {
    /// Half waves along the first side.
    pub m: u32,
    /// Half waves along the second side.
    pub n: u32,
    /// Resonant frequency.
    pub frequency_hz: f64,
}

/// Resonances of a cable `length_m` long up to `highest_hz`, lowest first, at most [`RESONANCES_MAX`].
pub fn cable(length_m: f64, ends: Ends, highest_hz: f64) -> Result<Estimate<Vec<f64>>, InputError> {
    let length = input::within("cable length (m)", length_m, 0.001, 1000.0)?;
    let highest = input::frequency(highest_hz)?;
    let quarter = LIGHT_SPEED / (4.0 * length);
    let first = match ends {
        Ends::OneOpen => 1u32,
        Ends::Alike => 2,
    };
    let found = (first..)
        .step_by(2)
        .map(|n| f64::from(n) * quarter)
        .take(RESONANCES_MAX)
        .take_while(|frequency| *frequency <= highest)
        .collect();
    Ok(Estimate::new(found, &CABLE))
}

/// Lowest resonance of an open stub `length_m` long on a line of effective permittivity `permittivity`.
pub fn stub(length_m: f64, permittivity: f64) -> Result<Estimate<f64>, InputError> {
    let length = input::length("stub length (m)", length_m)?;
    let effective = input::permittivity(permittivity)?;
    let frequency = LIGHT_SPEED / (4.0 * length * effective.sqrt());
    Ok(Estimate::new(frequency, &STUB))
}

/// Modes between planes `a_m` by `b_m` up to `highest_hz`, lowest first, at most [`RESONANCES_MAX`].
pub fn plane_modes(
    a_m: f64,
    b_m: f64,
    permittivity: f64,
    highest_hz: f64,
) -> Result<Estimate<Vec<Mode>>, InputError> {
    let a = input::within("side of the planes (m)", a_m, 1e-4, 10.0)?;
    let b = input::within("side of the planes (m)", b_m, 1e-4, 10.0)?;
    let er = input::permittivity(permittivity)?;
    let highest = input::frequency(highest_hz)?;
    let speed = LIGHT_SPEED / (2.0 * er.sqrt());
    let frequency = |m: u32, n: u32| speed * (f64::from(m) / a).hypot(f64::from(n) / b);
    let mut modes = Vec::new();
    // No mode of the lowest RESONANCES_MAX has a higher index than that along either side.
    let orders = || 0..=u32::try_from(RESONANCES_MAX).unwrap_or(u32::MAX);
    for m in orders().take_while(|m| frequency(*m, 0) <= highest) {
        let along = orders()
            .map(|n| (n, frequency(m, n)))
            .take_while(|(_, frequency)| *frequency <= highest);
        modes.extend(
            along
                .filter(|(n, _)| m + n > 0)
                .map(|(n, frequency_hz)| Mode { m, n, frequency_hz }),
        );
    }
    modes.sort_by(|x, y| {
        let by_frequency = x.frequency_hz.total_cmp(&y.frequency_hz);
        by_frequency.then(x.m.cmp(&y.m))
    });
    let found = modes.len();
    modes.truncate(RESONANCES_MAX);
    Ok(Estimate::new(modes, &CAVITY).at_most("modes", found as f64, RESONANCES_MAX as f64))
}
