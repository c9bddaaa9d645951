//! Cross-sections of parallel traces: an own two-dimensional solver for what closed forms do not cover.
//!
//! Microstrip, stripline (also off centre and between different dielectrics), coplanar lines over a plane, coupled lines,
//! thick copper and solder mask. Boundary elements ([Wei et al. 1984]) with the planes as images; every width, gap and
//! thickness is resolved by panels that are short at corners. Errors against exact cases are below 1 %.
//!
//! [Wei et al. 1984]: https://doi.org/10.1109/TMTT.1984.1132696

mod boundary;
mod cache;
mod channel;
mod grading;
mod matrices;
mod mesh;
mod panel;
mod sources;

pub use cache::Cache;
pub use matrices::{Matrices, PairImpedance};

use super::input::{self, InputError};
use super::line::Line;
use super::wire::Stop;
use super::{Estimate, Method};
use boundary::Panel;
use panel::Planes;

/// Most traces of one section.
pub const TRACES_MAX: usize = 6;

static METHOD: Method = Method {
    id: "boundary-elements",
    formula: "total charge on panels of conductors and dielectric borders; C from free charge, L = µ0 ε0 C0⁻¹",
    source: "Wei, Harrington, Mautz, Sarkar, IEEE Trans. MTT-32 (1984) 439-450",
    assumes: &[
        "quasi-static (TEM) fields",
        "lossless copper and dielectrics",
        "planes without edges or gaps",
    ],
    range: "widths, gaps and heights within a ratio of 100 of each other: error below 1 %",
};

/// A trace of a section.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trace {
    /// Where its left edge is, from any origin.
    pub left_m: f64,
    /// Width.
    pub width_m: f64,
}

/// What is above the copper.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Above {
    /// Nothing.
    Air,
    /// Solder mask that follows the copper.
    Mask {
        /// Thickness on the copper and beside it.
        thickness_m: f64,
        /// Relative permittivity, usually 3.3 to 3.8.
        permittivity: f64,
    },
    /// A second plane. The copper is embedded in the dielectric below that plane.
    Plane {
        /// From the lower side of the copper to the plane, more than the copper's thickness.
        height_m: f64,
        /// Relative permittivity of what is around and above the copper.
        permittivity: f64,
    },
}

/// A cross-section of one or more traces over a plane.
#[derive(Debug, Clone, PartialEq)]
pub struct Section {
    /// Traces from left to right, 1 to [`TRACES_MAX`] of them.
    pub traces: Vec<Trace>,
    /// Thickness of the copper; 0 is allowed.
    pub thickness_m: f64,
    /// From the plane to the copper.
    pub height_m: f64,
    /// Relative permittivity between plane and copper.
    pub permittivity: f64,
    /// What is above the copper.
    pub above: Above,
    /// Distance of grounded copper on both sides of the traces, if there is any.
    pub coplanar_gap_m: Option<f64>,
}

/// Why a section cannot be solved.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SectionError {
    /// A measure is no measure.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The number of traces.
    #[error("{count} traces; give 1 to {TRACES_MAX}")]
    TraceCount {
        /// How many there are.
        count: usize,
    },
    /// Traces touch or are not in order.
    #[error(
        "trace {index} begins before the one on its left ends; list traces from left to right, with gaps"
    )]
    Overlap {
        /// Which trace, from 0.
        index: usize,
    },
    /// The copper reaches the plane above.
    #[error(
        "the copper, {thickness_m} m thick, reaches the plane {height_m} m above its lower side"
    )]
    Touches {
        /// Thickness of the copper.
        thickness_m: f64,
        /// Height of the plane.
        height_m: f64,
    },
    /// The section needs more panels than the solver takes.
    #[error(
        "the section needs {panels} panels, more than {}; leave out what is far away",
        boundary::PANELS_MAX
    )]
    TooFine {
        /// How many it needs.
        panels: usize,
    },
    /// The equations have no solution.
    #[error("the section's equations are singular; its measures differ too much in size")]
    Singular,
    /// The caller said so.
    #[error("stopped")]
    Stopped,
}

impl Section {
    /// One trace over a plane, in air.
    pub fn microstrip(width_m: f64, height_m: f64, thickness_m: f64, permittivity: f64) -> Self {
        Self {
            traces: vec![Trace {
                left_m: -0.5 * width_m,
                width_m,
            }],
            thickness_m,
            height_m,
            permittivity,
            above: Above::Air,
            coplanar_gap_m: None,
        }
    }

    /// One trace in the middle between two planes `spacing_m` apart.
    pub fn stripline(width_m: f64, spacing_m: f64, thickness_m: f64, permittivity: f64) -> Self {
        let height_m = 0.5 * (spacing_m - thickness_m);
        Self {
            above: Above::Plane {
                height_m: spacing_m - height_m,
                permittivity,
            },
            ..Self::microstrip(width_m, height_m, thickness_m, permittivity)
        }
    }

    /// The same with a second trace, as wide as the last one, `gap_m` to the right of it.
    #[must_use]
    pub fn with_neighbour(mut self, gap_m: f64) -> Self {
        if let Some(last) = self.traces.last() {
            self.traces.push(Trace {
                left_m: last.left_m + last.width_m + gap_m,
                width_m: last.width_m,
            });
        }
        self
    }

    /// Capacitances and inductances of the traces. Takes a fifth of a millisecond for one trace and nearly one for two, with
    /// mask between coplanar copper 5 and 15; depends on nothing but `self`, so a [`Cache`] can keep it.
    pub fn solve(&self) -> Result<Estimate<Matrices>, SectionError> {
        self.solve_unless(&|| false)
    }

    /// As [`solve`](Self::solve). Asks `stop` for every row of the equations.
    pub fn solve_unless(&self, stop: Stop<'_>) -> Result<Estimate<Matrices>, SectionError> {
        self.check()?;
        let panels = mesh::panels(self)?;
        let (count, planes) = (self.traces.len(), self.planes());
        let found = if self.is_symmetric() {
            boundary::mirrored(&left_half(panels), count, planes, stop)
        } else {
            boundary::capacitances(&panels, count, planes, stop)
        };
        let found = found.ok_or_else(|| why(stop))?;
        let matrices = Matrices::new(found.loaded, found.empty).ok_or(SectionError::Singular)?;
        Ok(self.judge(Estimate::new(matrices, &METHOD)))
    }

    /// One trace of two while they are driven against each other: the `odd` line of [`Matrices::pair`], in less than half
    /// the time if both are equally wide. `None` if there are not two traces.
    pub fn odd_unless(&self, stop: Stop<'_>) -> Result<Estimate<Option<Line>>, SectionError> {
        if self.traces.len() != 2 || !self.is_symmetric() {
            let Estimate {
                value,
                method,
                outside,
            } = self.solve_unless(stop)?;
            let is_pair = self.traces.len() == 2;
            let pair = value.pair(0, 1).filter(|_| is_pair);
            return Ok(Estimate {
                value: pair.map(|pair| pair.odd),
                method,
                outside,
            });
        }
        self.check()?;
        let panels = left_half(mesh::panels(self)?);
        let found = boundary::odd(&panels, self.planes(), stop).ok_or_else(|| why(stop))?;
        let matrices = Matrices::new(found.loaded, found.empty).ok_or(SectionError::Singular)?;
        Ok(self.judge(Estimate::new(matrices.line(0), &METHOD)))
    }

    fn planes(&self) -> Planes {
        match self.above {
            Above::Plane { height_m, .. } => Planes::Both(self.height_m + height_m),
            Above::Air | Above::Mask { .. } => Planes::Below,
        }
    }

    /// Whether the right half mirrors the left one, and there are at most two traces.
    fn is_symmetric(&self) -> bool {
        match self.traces.as_slice() {
            [_] => true,
            [left, right] => (left.width_m / right.width_m - 1.0).abs() < 1e-9,
            _ => false,
        }
    }

    fn check(&self) -> Result<(), SectionError> {
        let count = self.traces.len();
        if count == 0 || TRACES_MAX < count {
            return Err(SectionError::TraceCount { count });
        }
        input::length("height above the plane (m)", self.height_m)?;
        input::thickness(self.thickness_m)?;
        input::permittivity(self.permittivity)?;
        if let Some(gap) = self.coplanar_gap_m {
            input::length("gap to coplanar copper (m)", gap)?;
        }
        match self.above {
            Above::Air => {}
            Above::Mask {
                thickness_m,
                permittivity,
            } => {
                input::length("thickness of the mask (m)", thickness_m)?;
                input::permittivity(permittivity)?;
            }
            Above::Plane {
                height_m,
                permittivity,
            } => {
                input::length("height of the plane above (m)", height_m)?;
                input::permittivity(permittivity)?;
                if height_m < 1.01 * self.thickness_m {
                    return Err(SectionError::Touches {
                        thickness_m: self.thickness_m,
                        height_m,
                    });
                }
            }
        }
        self.check_traces()
    }

    fn check_traces(&self) -> Result<(), SectionError> {
        for (index, trace) in self.traces.iter().enumerate() {
            input::within("position of a trace (m)", trace.left_m, -10.0, 10.0)?;
            input::length("width of a trace (m)", trace.width_m)?;
            if index > 0 {
                let left = self.traces[index - 1];
                let gap = trace.left_m - left.left_m - left.width_m;
                input::length("gap between traces (m)", gap)
                    .map_err(|_| SectionError::Overlap { index })?;
            }
        }
        Ok(())
    }

    /// Notes measures that differ so much that panels of one size do not resolve the other.
    fn judge<T>(&self, estimate: Estimate<T>) -> Estimate<T> {
        let gaps = self.traces.windows(2).map(|pair| {
            let [left, right] = pair else { return 0.0 };
            right.left_m - left.left_m - left.width_m
        });
        let measures: Vec<f64> = gaps
            .chain(self.traces.iter().map(|trace| trace.width_m))
            .chain(self.coplanar_gap_m)
            .map(|measure| measure / self.height_m)
            .collect();
        let least = measures.iter().copied().fold(f64::MAX, f64::min);
        let widest = measures.iter().copied().fold(0.0, f64::max);
        estimate
            .at_least("width or gap / height", least, 0.01)
            .at_most("width or gap / height", widest, 100.0)
            .at_most("relative permittivity", self.permittivity, 100.0)
    }
}

fn left_half(mut panels: Vec<Panel>) -> Vec<Panel> {
    panels.retain(|panel| panel.middle().re < 0.0);
    panels
}

/// Why there is no solution.
fn why(stop: Stop<'_>) -> SectionError {
    match stop() {
        true => SectionError::Stopped,
        false => SectionError::Singular,
    }
}

#[cfg(test)]
#[path = "section/tests.rs"]
mod tests;
