//! Capacitances of conductors in piecewise homogeneous dielectrics, by boundary elements.
//!
//! Every boundary is cut into straight panels of uniform total charge (free and bound), as Wei, Harrington, Mautz and
//! Sarkar 1984 (IEEE MTT-32, 439) describe: on a conductor the potential is given; on the border of two dielectrics the
//! normal displacement is continuous. The free charge of a conductor follows from the displacement at its surface.

use super::channel;
use super::panel::{Planes, View};
use super::sources::Sources;
use crate::fields::dense;
use crate::fields::wire::Stop;
use crate::fields::{Complex, constants};

/// Most panels of one section: its matrix is 8 MB then, and takes about an eighth of a second.
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

    /// Unit vector to the left.
    fn normal(&self) -> Complex {
        let along = self.b - self.a;
        Complex::J * along * (1.0 / along.abs())
    }

    pub(crate) fn length(&self) -> f64 {
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

/// Charges that are taken into account with `sign`: the panels' own, or those of their mirror images in x = 0.
#[derive(Debug, Clone, Copy)]
struct Part {
    is_mirrored: bool,
    sign: f64,
}

const OWN: Part = Part {
    is_mirrored: false,
    sign: 1.0,
};

/// Of images with the same charge.
const ALIKE: Part = Part {
    is_mirrored: true,
    sign: 1.0,
};

/// Of images with the opposite charge.
const OPPOSITE: Part = Part {
    is_mirrored: true,
    sign: -1.0,
};

/// The capacitances of conductors with these `panels`. `None` if the equations are singular, or `stop` says so.
pub(crate) fn capacitances(
    panels: &[Panel],
    count: usize,
    planes: Planes,
    stop: Stop<'_>,
) -> Option<Capacitances> {
    let panels = copper_first(panels);
    Rows::new(&panels, &[OWN], planes, stop)?.solve(&panels, count, stop)
}

/// The same for one conductor across x = 0 or two equal ones on both sides of it. `panels` are those with x < 0, the first
/// conductor or its left half among them; the others are their mirror images, which leaves half of the unknowns.
pub(crate) fn mirrored(
    panels: &[Panel],
    count: usize,
    planes: Planes,
    stop: Stop<'_>,
) -> Option<Capacitances> {
    let panels = copper_first(panels);
    if count == 1 {
        let half = Rows::new(&panels, &[OWN, ALIKE], planes, stop)?.solve(&panels, 1, stop)?;
        return Some(Capacitances {
            loaded: vec![vec![2.0 * half.loaded[0][0]]],
            empty: vec![vec![2.0 * half.empty[0][0]]],
        });
    }
    let own = Rows::new(&panels, &[OWN], planes, stop)?;
    let other = Rows::new(&panels, &[ALIKE], planes, stop)?;
    let even = own.plus(1.0, &other).solve(&panels, 1, stop)?;
    let odd = own.plus(-1.0, &other).solve(&panels, 1, stop)?;
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

/// Capacitances c11 − c12 of one of two equal conductors that are driven against each other; `panels` as for [`mirrored`].
pub(crate) fn odd(panels: &[Panel], planes: Planes, stop: Stop<'_>) -> Option<Capacitances> {
    let panels = copper_first(panels);
    Rows::new(&panels, &[OWN, OPPOSITE], planes, stop)?.solve(&panels, 1, stop)
}

fn copper_first(panels: &[Panel]) -> Vec<Panel> {
    let mut panels = panels.to_vec();
    panels.sort_by_key(|panel| panel.border.conductor().is_none());
    panels
}

/// The equations of panels, copper first, without the term of each border with itself.
struct Rows {
    /// Row by row: the potential of copper, the mean normal field of borders.
    matrix: Vec<f64>,
    /// Mean normal fields of sheets between different dielectrics, on which their free charge depends.
    fields: Vec<(usize, Vec<f64>)>,
}

impl Rows {
    /// What the charges of `panels`, as much of them as `parts` say, do to `panels`.
    fn new(panels: &[Panel], parts: &[Part], planes: Planes, stop: Stop<'_>) -> Option<Self> {
        let mut rows = Self {
            matrix: Vec::with_capacity(panels.len() * panels.len()),
            fields: Vec::new(),
        };
        let sources = Sources::new(panels);
        for (index, panel) in panels.iter().enumerate() {
            if stop() {
                return None;
            }
            let view = View {
                at: panel.middle(),
                normal: panel.normal(),
                sign: 1.0,
            };
            let views: Vec<View> = parts
                .iter()
                .map(|part| match part.is_mirrored {
                    false => view,
                    true => view.mirrored(part.sign),
                })
                .collect();
            match panel.border {
                Border::Face { .. } => rows.matrix.extend(potentials(&sources, &views, planes)),
                Border::Dielectrics { .. } => rows.matrix.extend(fields(&sources, &views, planes)),
                Border::Sheet { left, right, .. } => {
                    rows.matrix.extend(potentials(&sources, &views, planes));
                    #[allow(clippy::float_cmp, reason = "the same dielectric on both sides")]
                    if left != right {
                        rows.fields.push((index, fields(&sources, &views, planes)));
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
        let driven = |conductor: usize| {
            let is_driven = |panel: &Panel| panel.border.conductor() == Some(conductor);
            panels
                .iter()
                .map(|panel| f64::from(is_driven(panel)))
                .collect()
        };
        let mut charges: Vec<Vec<f64>> = (0..count).map(driven).collect();
        for (index, panel) in panels.iter().enumerate() {
            if let Border::Dielectrics { left, right } = panel.border {
                // The displacement is continuous: εl (E + σ/2ε0) = εr (E − σ/2ε0) with the mean field E.
                self.matrix[index * (panels.len() + 1)] += 0.5 * (left + right) / (left - right);
            }
        }
        // Potentials do not depend on what is around: the equations of the copper alone are those in air.
        let copper = panels
            .iter()
            .take_while(|panel| panel.border.conductor().is_some())
            .count();
        let (matrix, all) = (&mut self.matrix, panels.len());
        let in_air = dense::solve_with_lead(matrix, all, copper, &mut charges, stop)?;
        let copper = in_air_only(&panels[..copper]);
        let empty = free_charges(&copper, count, &in_air, &[]);
        let loaded = match only_permittivity(panels) {
            Some(permittivity) => {
                let scaled = |row: &Vec<f64>| row.iter().map(|c| permittivity * c).collect();
                empty.iter().map(scaled).collect()
            }
            None => free_charges(panels, count, &charges, &self.fields),
        };
        Some(Capacitances { loaded, empty })
    }
}

/// Potentials that the panels of `sources`, per charge of each, have at `views`.
fn potentials(sources: &Sources<'_>, views: &[View], planes: Planes) -> Vec<f64> {
    let mut sums = sources.potentials();
    for view in views {
        sources.add_potentials(view.at, view.sign, &mut sums);
        for image in view.images(planes) {
            sources.add_potentials(image.at, image.sign, &mut sums);
        }
    }
    let mut sums = sources.sum(&sums);
    if let Planes::Both(height) = planes {
        for view in views {
            for (sum, panel) in sums.iter_mut().zip(sources.panels()) {
                *sum += view.sign * channel::potential(view.at, panel, height);
            }
        }
    }
    scaled(sums)
}

/// Fields along the normals of `views`, likewise.
fn fields(sources: &Sources<'_>, views: &[View], planes: Planes) -> Vec<f64> {
    let mut sums = vec![0.0; sources.panels().len()];
    for view in views {
        sources.add_fields(view.at, view.normal * view.sign, &mut sums);
        for image in view.images(planes) {
            sources.add_fields(image.at, image.normal * image.sign, &mut sums);
        }
        if let Planes::Both(height) = planes {
            for (sum, panel) in sums.iter_mut().zip(sources.panels()) {
                let field = channel::field(view.at, panel, height);
                *sum += view.sign * (field.re * view.normal.re + field.im * view.normal.im);
            }
        }
    }
    scaled(sums)
}

/// In volts and volts per metre for a charge of one ε0 per metre.
fn scaled(mut sums: Vec<f64>) -> Vec<f64> {
    for sum in &mut sums {
        *sum *= 0.5 / std::f64::consts::PI;
    }
    sums
}

/// Panels of copper with air in place of the dielectrics.
fn in_air_only(panels: &[Panel]) -> Vec<Panel> {
    let in_air = |panel: &Panel| {
        let conductor = panel.border.conductor()?;
        let outside = 1.0;
        Some(Panel {
            border: Border::Face { conductor, outside },
            ..*panel
        })
    };
    panels.iter().filter_map(in_air).collect()
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

/// Free charges in C/m of each conductor, row by row, with each of them driven, from the `charges` of panels then.
fn free_charges(
    panels: &[Panel],
    count: usize,
    charges: &[Vec<f64>],
    fields: &[(usize, Vec<f64>)],
) -> Vec<Vec<f64>> {
    let columns: Vec<Vec<f64>> = charges
        .iter()
        .map(|charge| free_charge(panels, count, charge, fields))
        .collect();
    (0..count)
        .map(|i| (0..count).map(|j| columns[j][i]).collect())
        .collect()
}

/// Free charge of each conductor in C/m, from the total charges of the panels in units of ε0.
fn free_charge(
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
