//! Capacitances of conductors in piecewise homogeneous dielectrics, by boundary elements.
//!
//! Every boundary is cut into straight panels of uniform total charge (free and bound), as Wei, Harrington, Mautz and
//! Sarkar 1984 (IEEE MTT-32, 439) describe: on a conductor the potential is given; on the border of two dielectrics the
//! normal displacement is continuous. The free charge of a conductor follows from the displacement at its surface.

use super::panel::{Planes, influence};
use crate::fields::dense;
use crate::fields::wire::Stop;
use crate::fields::{Complex, constants};

/// Most panels of one section: its matrix is 8 MB then, and takes about half a second.
pub(crate) const PANELS_MAX: usize = 1_000;

/// What a panel borders. Left and right as seen going from `a` to `b`.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Border {
    /// Surface of a solid conductor, by index; outside of it is this permittivity.
    Face { conductor: usize, outside: f64 },
    /// A conductor without thickness, by index.
    Sheet {
        conductor: usize,
        left: f64,
        right: f64,
    },
    /// Two dielectrics.
    Dielectrics { left: f64, right: f64 },
}

impl Border {
    fn conductor(self) -> Option<usize> {
        match self {
            Self::Face { conductor, .. } | Self::Sheet { conductor, .. } => Some(conductor),
            Self::Dielectrics { .. } => None,
        }
    }
}

/// A straight piece of a boundary.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Panel {
    pub(crate) a: Complex,
    pub(crate) b: Complex,
    pub(crate) border: Border,
}

impl Panel {
    pub(crate) fn middle(&self) -> Complex {
        (self.a + self.b) * 0.5
    }

    /// Its image on the other side of x = 0.
    fn mirrored(&self) -> Self {
        let image = |point: Complex| Complex::new(-point.re, point.im);
        Self {
            a: image(self.b),
            b: image(self.a),
            border: self.border,
        }
    }

    /// Unit vector to the left.
    fn normal(&self) -> Complex {
        let along = self.b - self.a;
        Complex::J * along * (1.0 / along.abs())
    }

    fn length(&self) -> f64 {
        (self.b - self.a).abs()
    }
}

/// Capacitance matrices in F/m of the first `count` conductors; any further ones are grounded. Entry `[i][j]` is the charge
/// of conductor i with conductor j at 1 V and all others at 0 V.
pub(crate) struct Capacitances {
    /// With the dielectrics.
    pub(crate) loaded: Vec<Vec<f64>>,
    /// With air in their place.
    pub(crate) empty: Vec<Vec<f64>>,
}

/// The capacitances of conductors with these `panels`. `None` if the equations are singular, or `stop` says so.
pub(crate) fn capacitances(
    panels: &[Panel],
    count: usize,
    planes: Planes,
    stop: Stop<'_>,
) -> Option<Capacitances> {
    Rows::new(panels, panels, planes, stop)?.solve(panels, count, stop)
}

/// The same for one conductor across x = 0 or two equal ones on both sides of it. `panels` are those with x < 0, the first
/// conductor or its left half among them; the others are their mirror images, which leaves half of the unknowns.
pub(crate) fn mirrored(
    panels: &[Panel],
    count: usize,
    planes: Planes,
    stop: Stop<'_>,
) -> Option<Capacitances> {
    let images: Vec<Panel> = panels.iter().map(Panel::mirrored).collect();
    let own = Rows::new(panels, panels, planes, stop)?;
    let other = Rows::new(panels, &images, planes, stop)?;
    let even = own.plus(1.0, &other).solve(panels, 1, stop)?;
    if count == 1 {
        return Some(Capacitances {
            loaded: vec![vec![2.0 * even.loaded[0][0]]],
            empty: vec![vec![2.0 * even.empty[0][0]]],
        });
    }
    let odd = own.plus(-1.0, &other).solve(panels, 1, stop)?;
    // Driven alike, each has c11 + c12; driven against each other, c11 − c12.
    let pair = |even: f64, odd: f64| {
        let (own, mutual) = (0.5 * (even + odd), 0.5 * (even - odd));
        vec![vec![own, mutual], vec![mutual, own]]
    };
    Some(Capacitances {
        loaded: pair(even.loaded[0][0], odd.loaded[0][0]),
        empty: pair(even.empty[0][0], odd.empty[0][0]),
    })
}

/// The equations of panels, without the term of each border with itself.
struct Rows {
    /// Row by row: the potential of copper, the mean normal field of borders.
    matrix: Vec<f64>,
    /// Mean normal fields of sheets between different dielectrics, on which their free charge depends.
    fields: Vec<(usize, Vec<f64>)>,
}

impl Rows {
    /// What `sources` do to `panels`, of which they are the charges or their images.
    fn new(panels: &[Panel], sources: &[Panel], planes: Planes, stop: Stop<'_>) -> Option<Self> {
        const SCALE: f64 = 0.5 / std::f64::consts::PI;
        let mut rows = Self {
            matrix: Vec::with_capacity(panels.len() * sources.len()),
            fields: Vec::new(),
        };
        for (index, panel) in panels.iter().enumerate() {
            if stop() {
                return None;
            }
            let (at, normal) = (panel.middle(), panel.normal());
            let found = sources
                .iter()
                .map(|source| influence(at, source.a, source.b, planes));
            let along = |field: Complex| SCALE * (field.re * normal.re + field.im * normal.im);
            match panel.border {
                Border::Face { .. } => {
                    rows.matrix.extend(found.map(|one| SCALE * one.potential));
                }
                Border::Dielectrics { .. } => {
                    rows.matrix.extend(found.map(|one| along(one.field)));
                }
                Border::Sheet { left, right, .. } => {
                    let mut fields = Vec::new();
                    for one in found {
                        rows.matrix.push(SCALE * one.potential);
                        fields.push(along(one.field));
                    }
                    #[allow(clippy::float_cmp, reason = "the same dielectric on both sides")]
                    if left != right {
                        rows.fields.push((index, fields));
                    }
                }
            }
        }
        Some(rows)
    }

    /// `self + sign · other`.
    fn plus(&self, sign: f64, other: &Self) -> Self {
        let sum = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a + sign * b).collect();
        let fields = self.fields.iter().zip(&other.fields);
        Self {
            matrix: sum(&self.matrix, &other.matrix),
            fields: fields
                .map(|((index, a), (_, b))| (*index, sum(a, b)))
                .collect(),
        }
    }

    fn solve(mut self, panels: &[Panel], count: usize, stop: Stop<'_>) -> Option<Capacitances> {
        let (copper, in_air) = without_dielectrics(panels, &self.matrix);
        let empty = solve(&copper, count, in_air, &[], stop)?;
        if let Some(permittivity) = only_permittivity(panels) {
            let scaled = |row: &Vec<f64>| row.iter().map(|c| permittivity * c).collect();
            return Some(Capacitances {
                loaded: empty.iter().map(scaled).collect(),
                empty,
            });
        }
        for (index, panel) in panels.iter().enumerate() {
            if let Border::Dielectrics { left, right } = panel.border {
                // The displacement is continuous: εl (E + σ/2ε0) = εr (E − σ/2ε0) with the mean field E.
                self.matrix[index * (panels.len() + 1)] += 0.5 * (left + right) / (left - right);
            }
        }
        let loaded = solve(panels, count, self.matrix, &self.fields, stop)?;
        Some(Capacitances { loaded, empty })
    }
}

/// The panels of copper in air, and their part of the matrix: potentials do not depend on what is around.
fn without_dielectrics(panels: &[Panel], matrix: &[f64]) -> (Vec<Panel>, Vec<f64>) {
    let is_copper = |panel: &Panel| panel.border.conductor().is_some();
    let copper = panels
        .iter()
        .filter_map(|panel| {
            let conductor = panel.border.conductor()?;
            let outside = 1.0;
            Some(Panel {
                border: Border::Face { conductor, outside },
                ..*panel
            })
        })
        .collect();
    let rows = matrix.chunks_exact(panels.len()).zip(panels);
    let part = rows
        .filter(|(_, panel)| is_copper(panel))
        .flat_map(|(row, _)| {
            let columns = row.iter().zip(panels);
            columns
                .filter(|(_, panel)| is_copper(panel))
                .map(|(value, _)| *value)
        })
        .collect();
    (copper, part)
}

/// The permittivity of the section if it has only one.
fn only_permittivity(panels: &[Panel]) -> Option<f64> {
    let of = |panel: &Panel| match panel.border {
        Border::Face { outside, .. } => Some(outside),
        #[allow(clippy::float_cmp, reason = "the same dielectric on both sides")]
        Border::Sheet { left, right, .. } => (left == right).then_some(left),
        Border::Dielectrics { .. } => None,
    };
    let first = of(panels.first()?)?;
    #[allow(clippy::float_cmp, reason = "the same dielectric everywhere")]
    let is_only = panels.iter().all(|panel| of(panel) == Some(first));
    is_only.then_some(first)
}

fn solve(
    panels: &[Panel],
    count: usize,
    mut matrix: Vec<f64>,
    fields: &[(usize, Vec<f64>)],
    stop: Stop<'_>,
) -> Option<Vec<Vec<f64>>> {
    let mut charges: Vec<Vec<f64>> = (0..count)
        .map(|driven| {
            panels
                .iter()
                .map(|panel| f64::from(panel.border.conductor() == Some(driven)))
                .collect()
        })
        .collect();
    dense::solve(&mut matrix, panels.len(), &mut charges, stop).then(|| {
        let columns: Vec<Vec<f64>> = charges
            .iter()
            .map(|charge| free_charges(panels, count, charge, fields))
            .collect();
        (0..count)
            .map(|i| (0..count).map(|j| columns[j][i]).collect())
            .collect()
    })
}

/// Free charge of each conductor in C/m, from the total charges of the panels in units of ε0.
fn free_charges(
    panels: &[Panel],
    count: usize,
    charge: &[f64],
    fields: &[(usize, Vec<f64>)],
) -> Vec<f64> {
    let mut sums = vec![0.0; count];
    let mut add = |conductor: usize, amount: f64| {
        if let Some(sum) = sums.get_mut(conductor) {
            *sum += constants::ELECTRIC * amount;
        }
    };
    for (panel, total) in panels.iter().zip(charge) {
        match panel.border {
            Border::Face { conductor, outside } => {
                add(conductor, outside * total * panel.length());
            }
            Border::Sheet {
                conductor,
                left,
                right,
            } => add(conductor, 0.5 * (left + right) * total * panel.length()),
            Border::Dielectrics { .. } => {}
        }
    }
    for (index, row) in fields {
        let panel = &panels[*index];
        if let Border::Sheet {
            conductor,
            left,
            right,
        } = panel.border
        {
            let mean: f64 = row.iter().zip(charge).map(|(a, b)| a * b).sum();
            add(conductor, (left - right) * mean * panel.length());
        }
    }
    sums
}

#[cfg(test)]
#[path = "boundary/tests.rs"]
mod tests;
