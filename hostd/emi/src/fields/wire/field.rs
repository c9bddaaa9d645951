//! A solved wire: its currents and the field around it.

use std::f64::consts::{PI, TAU};

use crate::fields::Complex;
use crate::fields::constants::{IMPEDANCE, LIGHT_SPEED};

/// Currents of a wire for 1 V at its source.
#[derive(Debug, Clone, PartialEq)]
pub struct Solution {
    /// Frequency.
    pub frequency_hz: f64,
    /// What the source sees.
    pub impedance_ohm: Complex,
    /// Places of the nodes.
    pub nodes_m: Vec<[f64; 3]>,
    /// Currents at the nodes in A per V, positive towards the next node.
    pub currents_a: Vec<Complex>,
    /// Whether there is a floor at z = 0.
    pub(super) floor: bool,
}

impl Solution {
    /// Greatest current along the wire in A per V of the source.
    pub fn greatest_current(&self) -> f64 {
        self.currents_a
            .iter()
            .map(|current| current.abs())
            .fold(0.0, f64::max)
    }

    /// Electric field `[Ex, Ey, Ez]` in V/m per V of the source, at `at`. Exact for points at least a few segments away
    /// from the wire; a floor's image is part of it, so that a point below the floor has no meaning.
    pub fn field(&self, at: [f64; 3]) -> [Complex; 3] {
        let mut sum = [Complex::ZERO; 3];
        for (nodes, currents) in self.nodes_m.windows(2).zip(self.currents_a.windows(2)) {
            let along = [0, 1, 2].map(|axis| nodes[1][axis] - nodes[0][axis]);
            for fraction in [0.211_324_865_405_187_1, 0.788_675_134_594_812_9] {
                let place = [0, 1, 2].map(|axis| nodes[0][axis] + fraction * along[axis]);
                let current = currents[0] * (1.0 - fraction) + currents[1] * fraction;
                let moment = current * 0.5;
                self.add_dipole(at, place, along, moment, &mut sum);
                if self.floor {
                    let [x, y, z] = place;
                    let [u, v, w] = along;
                    self.add_dipole(at, [x, y, -z], [-u, -v, w], moment, &mut sum);
                }
            }
        }
        sum
    }

    /// Field of a Hertzian dipole of moment `current · along`, near field included:
    /// E = −jkη/4π · e^(−jkR)/R · (p (1 + 1/jkR − 1/(kR)²) − R̂ (R̂·p) (1 + 3/jkR − 3/(kR)²)).
    fn add_dipole(
        &self,
        at: [f64; 3],
        place: [f64; 3],
        along: [f64; 3],
        current: Complex,
        sum: &mut [Complex; 3],
    ) {
        let k = TAU * self.frequency_hz / LIGHT_SPEED;
        let away = [0, 1, 2].map(|axis| at[axis] - place[axis]);
        let square: f64 = away.iter().map(|x| x * x).sum();
        let distance = square.sqrt();
        let kr = k * distance;
        let wave = Complex::unit(-kr) * Complex::new(0.0, -k * IMPEDANCE / (4.0 * PI * distance));
        let across = Complex::new(1.0 - 1.0 / (kr * kr), -1.0 / kr);
        let radial = Complex::new(1.0 - 3.0 / (kr * kr), -3.0 / kr);
        let projection: f64 = (0..3).map(|axis| away[axis] * along[axis]).sum::<f64>() / square;
        for axis in 0..3 {
            let shape = across * along[axis] - radial * (projection * away[axis]);
            sum[axis] += wave * current * shape;
        }
    }
}
