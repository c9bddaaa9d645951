//! Cables as antennas: an own moment method for thin wires, for lengths at which closed forms fail.
//!
//! A wire is a chain of straight legs, in free space or over a perfectly conducting floor, with a voltage source at one of
//! its points and impedances at others. Currents are linear between nodes, charges constant; the mixed-potential equation
//! is tested with the same functions (Galerkin; Harrington 1968), with the reduced kernel, whose singular part is
//! integrated in closed form. Fields are exact at any distance, near field included.

mod field;
mod kernel;
mod mesh;
mod scan;

pub use field::Solution;
pub use scan::{CableEmission, Peak, Polarisation, Scan};

use rayon::prelude::*;

use super::constants::{ELECTRIC, LIGHT_SPEED, MAGNETIC};
use super::input::{self, InputError};
use super::{Complex, Estimate, Method, dense};
use mesh::Mesh;

pub use crate::observer::Stop;

/// Most points of a wire.
pub const POINTS_MAX: usize = 50;

/// Most segments that a wire is cut into. Solving takes about a quarter of a second then.
pub const SEGMENTS_MAX: usize = 400;

static METHOD: Method = Method {
    id: "thin-wire-moments",
    formula: "∫ f·(jωA + ∇Φ) dl = V at the source, A and Φ of piecewise linear currents, f the same functions",
    source: "Harrington: Field Computation by Moment Methods, 1968, chapter 4",
    assumes: &[
        "perfectly conducting round wire without insulation",
        "floor is an infinite perfect conductor",
        "what the wire is attached to is part of it as a straight leg",
    ],
    range: "radius ≤ λ/100 and ≤ a quarter of a segment, ≥ 10 segments a wavelength, three radii above the floor",
};

/// A wire antenna.
#[derive(Debug, Clone, PartialEq)]
pub struct Wire {
    /// Its points in m, 2 to [`POINTS_MAX`]; z is up, and the floor, if there is one, at z = 0. An end on the floor is
    /// joined to it.
    pub points_m: Vec<[f64; 3]>,
    /// Radius of the conductor.
    pub radius_m: f64,
    /// At which point the source is. An end is possible if it is joined to the floor.
    pub source: usize,
    /// Impedances in series.
    pub loads: Vec<Load>,
    /// Whether there is a floor.
    pub floor: bool,
}

/// An impedance in a wire.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Load {
    /// At which point.
    pub point: usize,
    /// Impedance.
    pub ohm: Complex,
}

/// Why a wire cannot be solved.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum WireError {
    /// A measure is no measure.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The number of points.
    #[error("{count} points; give 2 to {POINTS_MAX}")]
    PointCount {
        /// How many there are.
        count: usize,
    },
    /// A point of the wire is below the floor, or one between its ends on it.
    #[error("point {index} is at or below the floor; only the ends may be on it, none below")]
    Floor {
        /// Which point.
        index: usize,
    },
    /// Source or load at a place where no current can flow.
    #[error(
        "there is no current at point {index}; choose a point between the ends or an end on the floor"
    )]
    NoCurrent {
        /// Which point.
        index: usize,
    },
    /// The wire is too long for its wavelength.
    #[error("the wire is {wavelengths:.0} wavelengths long; at most {} are solved", SEGMENTS_MAX / 10)]
    TooLong {
        /// Its length.
        wavelengths: f64,
    },
    /// The equations have no solution.
    #[error("the wire's equations are singular; look for points that coincide")]
    Singular,
    /// The caller said so.
    #[error("stopped")]
    Stopped,
}

impl Wire {
    /// Currents per volt of the source at `frequency_hz`. Asks `stop` several times a millisecond.
    pub fn solve(&self, frequency_hz: f64, stop: Stop) -> Result<Estimate<Solution>, WireError> {
        let frequency = input::within("frequency (Hz)", frequency_hz, 1e3, 1e11)?;
        let mesh = Mesh::new(self, LIGHT_SPEED / frequency)?;
        let mut matrix = impedances(&mesh, frequency, stop)?;
        let count = mesh.unknowns.len();
        for load in &self.loads {
            let unknown = mesh.unknown_at(load.point)?;
            matrix[unknown * count + unknown] += load.ohm;
        }
        let source = mesh.unknown_at(self.source)?;
        let mut sides = vec![vec![Complex::ZERO; count]];
        sides[0][source] = Complex::from(1.0);
        if !dense::solve(&mut matrix, count, &mut sides, stop) {
            let cause = if stop() {
                WireError::Stopped
            } else {
                WireError::Singular
            };
            return Err(cause);
        }
        let mut currents = vec![Complex::ZERO; mesh.nodes.len()];
        for (unknown, current) in mesh.unknowns.iter().zip(&sides[0]) {
            if !current.is_finite() {
                return Err(WireError::Singular);
            }
            currents[*unknown] = *current;
        }
        let impedance = Complex::from(1.0) / sides[0][source];
        let solution = Solution {
            frequency_hz: frequency,
            impedance_ohm: impedance,
            nodes_m: mesh.nodes.clone(),
            currents_a: currents,
            floor: self.floor,
        };
        let wavelength = LIGHT_SPEED / frequency;
        Ok(mesh.judge(wavelength, Estimate::new(solution, &METHOD)))
    }
}

/// The impedance matrix, row by row.
fn impedances(mesh: &Mesh, frequency: f64, stop: Stop) -> Result<Vec<Complex>, WireError> {
    let omega = std::f64::consts::TAU * frequency;
    let k = omega / LIGHT_SPEED;
    let magnetic = Complex::J * (omega * MAGNETIC / (4.0 * std::f64::consts::PI));
    let electric = Complex::J * (1.0 / (4.0 * std::f64::consts::PI * ELECTRIC * omega));
    let test = |index: usize| {
        if stop() {
            Err(WireError::Stopped)
        } else {
            Ok(mesh.tested(index, k))
        }
    };
    let tested: Vec<_> = (0..mesh.segments.len())
        .into_par_iter()
        .map(test)
        .collect::<Result<_, _>>()?;
    let count = mesh.unknowns.len();
    let mut matrix = vec![Complex::ZERO; count * count];
    for (row, &node) in matrix.chunks_exact_mut(count).zip(&mesh.unknowns) {
        // The weight of the test rises along the segment before the node and falls along the one after it. A node on the
        // floor has one of them; the other is an image, and says the same.
        if let Some(before) = node.checked_sub(1).map(|segment| &tested[segment]) {
            for (column, entry) in row.iter_mut().enumerate() {
                *entry += magnetic * before.rising[column] - electric * before.potential[column];
            }
        }
        if let Some(after) = tested.get(node) {
            for (column, entry) in row.iter_mut().enumerate() {
                *entry += magnetic * after.falling[column] + electric * after.potential[column];
            }
        }
    }
    Ok(matrix)
}
