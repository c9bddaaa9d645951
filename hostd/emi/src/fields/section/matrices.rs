//! What the solver finds, and the impedances in it.

use crate::fields::line::Line;
use crate::fields::{constants, dense};

/// Capacitances and inductances per length of parallel traces over their reference.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrices {
    /// Maxwell's capacitances in F/m, row by row: negative off the diagonal.
    pub capacitance: Vec<Vec<f64>>,
    /// Inductances in H/m, row by row.
    pub inductance: Vec<Vec<f64>>,
}

/// Impedances of two coupled traces.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairImpedance {
    /// Of one trace, both driven alike.
    pub even: Line,
    /// Of one trace, driven against each other.
    pub odd: Line,
    /// Between the traces, driven against each other: twice `odd`.
    pub differential_ohm: f64,
    /// Of both together against the plane, driven alike: half of `even`.
    pub common_ohm: f64,
}

impl Matrices {
    /// From the capacitances with and without dielectrics. `None` if the second are singular.
    pub(super) fn new(mut loaded: Vec<Vec<f64>>, mut empty: Vec<Vec<f64>>) -> Option<Self> {
        symmetrize(&mut loaded);
        symmetrize(&mut empty);
        let count = empty.len();
        let mut flat: Vec<f64> = empty.into_iter().flatten().collect();
        let scale = constants::MAGNETIC * constants::ELECTRIC;
        let mut inductance: Vec<Vec<f64>> = (0..count)
            .map(|i| {
                (0..count)
                    .map(|j| if i == j { scale } else { 0.0 })
                    .collect()
            })
            .collect();
        dense::solve(&mut flat, count, &mut inductance, &|| false).then_some(Self {
            capacitance: loaded,
            inductance,
        })
    }

    /// Trace `index` as a line of its own, with the other traces grounded at every point. `None` if there is no such
    /// trace.
    pub fn line(&self, index: usize) -> Option<Line> {
        let capacitance = *self.capacitance.get(index)?.get(index)?;
        let others: Vec<usize> = (0..self.inductance.len()).filter(|k| *k != index).collect();
        // Currents flow in grounded neighbours too: the inductance that remains is the Schur complement.
        let mut between: Vec<f64> = others
            .iter()
            .flat_map(|i| others.iter().map(|j| self.inductance[*i][*j]))
            .collect();
        let mut sides = vec![
            others
                .iter()
                .map(|k| self.inductance[*k][index])
                .collect::<Vec<_>>(),
        ];
        if !dense::solve(&mut between, others.len(), &mut sides, &|| false) {
            return None;
        }
        let returned: f64 = others
            .iter()
            .zip(&sides[0])
            .map(|(k, part)| self.inductance[index][*k] * part)
            .sum();
        Some(Line::new(
            self.inductance[index][index] - returned,
            capacitance,
        ))
    }

    /// Impedances of traces `first` and `second`, with their mean taken where they differ in width. `None` if they are
    /// not two traces of the section.
    pub fn pair(&self, first: usize, second: usize) -> Option<PairImpedance> {
        let count = self.capacitance.len();
        if first == second || count <= first || count <= second {
            return None;
        }
        let (c, l) = (&self.capacitance, &self.inductance);
        let c_mean = 0.5 * (c[first][first] + c[second][second]);
        let l_mean = 0.5 * (l[first][first] + l[second][second]);
        let (c_mutual, l_mutual) = (c[first][second], l[first][second]);
        let even = Line::new(l_mean + l_mutual, c_mean + c_mutual);
        let odd = Line::new(l_mean - l_mutual, c_mean - c_mutual);
        Some(PairImpedance {
            even,
            odd,
            differential_ohm: 2.0 * odd.impedance_ohm,
            common_ohm: 0.5 * even.impedance_ohm,
        })
    }

    /// Backward (near-end) crosstalk from trace `from` to trace `to`, both matched, as a fraction of the driving step:
    /// ¼ (Lm/L + Cm/C), to first order in the coupling. `None` if they are not two traces of the section.
    pub fn backward_coupling(&self, from: usize, to: usize) -> Option<f64> {
        let count = self.capacitance.len();
        if from == to || count <= from || count <= to {
            return None;
        }
        let (c, l) = (&self.capacitance, &self.inductance);
        let capacitive = -c[from][to] / (c[from][from] * c[to][to]).sqrt();
        let inductive = l[from][to] / (l[from][from] * l[to][to]).sqrt();
        Some(0.25 * (capacitive + inductive))
    }
}

/// Takes the mean of entries that are equal but for the error of the panels.
fn symmetrize(matrix: &mut Vec<Vec<f64>>) {
    let mean = |i: usize, j: usize| 0.5 * (matrix[i][j] + matrix[j][i]);
    let all = 0..matrix.len();
    *matrix = all
        .clone()
        .map(|i| all.clone().map(|j| mean(i, j)).collect())
        .collect();
}
