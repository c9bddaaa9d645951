//! The impedance of each shape of stretches: in closed form where one holds, and otherwise by the two-dimensional solver.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use super::{Scope, Shape};
use crate::board::{LayerId, Stackup};
use crate::fields::line::{self, Line};
use crate::fields::section::{Above, Cache, Section};
use crate::fields::{Estimate, InputError};
use crate::observer::Cancelled;

/// Most shapes of a board that are solved, each in a millisecond: real boards have some dozens. Further ones have no
/// impedance.
const SOLVED_MAX: usize = 2_000;

/// Heights and permittivities that differ by less than this are the same.
const SAME: f64 = 0.01;

/// A line and how it was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Solved {
    pub(super) ohm: f64,
    pub(super) permittivity: f64,
    /// Of the method.
    pub(super) method: &'static str,
    pub(super) is_valid: bool,
}

/// What is on one side of a trace.
#[derive(Clone, Copy)]
struct Side {
    height_m: f64,
    permittivity: f64,
}

/// A trace's cross-section.
struct Profile {
    width_m: f64,
    thickness_m: f64,
    /// Towards the nearest plane.
    plane: Side,
    /// Towards the other plane, or the insulation that covers the trace, if it is no outer one.
    other: Option<Side>,
    /// Whether there is a plane on the other side.
    is_between: bool,
}

/// Finds the lines of all shapes.
pub(super) fn solve(
    scope: &Scope<'_>,
    shapes: &BTreeSet<Shape>,
) -> Result<BTreeMap<Shape, Solved>, Cancelled> {
    let cache = Cache::default();
    let mut solved = BTreeMap::new();
    let mut open = Vec::new();
    for shape in shapes {
        let Some(profile) = Profile::of(&scope.board.stackup, shape) else {
            continue;
        };
        match profile.in_closed_form() {
            Some(line) => drop(solved.insert(*shape, line)),
            None if open.len() < SOLVED_MAX => open.push((*shape, profile)),
            None => {}
        }
    }
    let found = open.par_iter().map(|(shape, profile)| {
        scope.go_on()?;
        Ok(profile.solved(&cache).map(|line| (*shape, line)))
    });
    let found: Vec<Option<(Shape, Solved)>> = found.collect::<Result<_, Cancelled>>()?;
    solved.extend(found.into_iter().flatten());
    Ok(solved)
}

impl Profile {
    fn of(stackup: &Stackup, shape: &Shape) -> Option<Self> {
        let last = stackup.gaps.len();
        let side = |layer: LayerId| Side {
            height_m: stackup.distance(shape.layer, layer) / 1e3,
            permittivity: stackup.epsilon_between(shape.layer, layer),
        };
        let above = shape.layer.checked_sub(1).map(side);
        let below = (shape.layer < last).then(|| side(shape.layer + 1));
        let (plane, other) = match (shape.above, shape.below) {
            (true, false) => (above?, below),
            (false, _) => (below?, above),
            (true, true) => {
                let (above, below) = (above?, below?);
                if above.height_m < below.height_m {
                    (above, Some(below))
                } else {
                    (below, Some(above))
                }
            }
        };
        Some(Self {
            width_m: shape.width_mm() / 1e3,
            thickness_m: stackup.copper.get(shape.layer).copied().unwrap_or(0.0) / 1e3,
            plane,
            other,
            is_between: shape.above && shape.below,
        })
    }

    /// By a closed form that holds.
    fn in_closed_form(&self) -> Option<Solved> {
        let found: Result<Estimate<Line>, InputError> = match self.other {
            None => line::microstrip(
                self.width_m,
                self.plane.height_m,
                self.thickness_m,
                self.plane.permittivity,
            ),
            Some(other) if self.is_between && self.plane.is_like(&other) => line::stripline(
                self.width_m,
                self.plane.height_m + other.height_m + self.thickness_m,
                self.thickness_m,
                self.plane.permittivity,
            ),
            Some(_) => return None,
        };
        let found = found.ok().filter(|found| !found.outside_validity())?;
        Solved::of(&found.value, found.method.id, true)
    }

    /// By the two-dimensional solver.
    fn solved(&self, cache: &Cache) -> Option<Solved> {
        let plain = Section::microstrip(
            self.width_m,
            self.plane.height_m,
            self.thickness_m,
            self.plane.permittivity,
        );
        let above = match self.other {
            None => Above::Air,
            Some(other) if self.is_between => Above::Plane {
                height_m: other.height_m + self.thickness_m,
                permittivity: other.permittivity,
            },
            // The insulation over a trace inside the board, with nothing on its far side.
            Some(other) => Above::Mask {
                thickness_m: other.height_m,
                permittivity: other.permittivity,
            },
        };
        let found = cache.solve(&Section { above, ..plain }).ok()?;
        let line = found.value.line(0)?;
        Solved::of(&line, found.method.id, !found.outside_validity())
    }
}

impl Side {
    fn is_like(&self, other: &Self) -> bool {
        let same = |x: f64, y: f64| (x - y).abs() <= SAME * x.max(y);
        same(self.height_m, other.height_m) && same(self.permittivity, other.permittivity)
    }
}

impl Solved {
    fn of(line: &Line, method: &'static str, is_valid: bool) -> Option<Self> {
        let is_line = line.impedance_ohm.is_finite()
            && 0.0 < line.impedance_ohm
            && line.permittivity.is_finite()
            && 0.0 < line.permittivity;
        is_line.then_some(Self {
            ohm: line.impedance_ohm,
            permittivity: line.permittivity,
            method,
            is_valid,
        })
    }
}
