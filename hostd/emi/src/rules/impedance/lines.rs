//! The impedance of each shape of stretches: in closed form where one holds, and otherwise by the two-dimensional solver.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::{Scope, Shape};
use crate::board::{Board, LayerId};
use crate::fields::constants::LIGHT_SPEED;
use crate::fields::line::{self, Line};
use crate::fields::section::{Above, Cache, Section, SectionError};
use crate::fields::{Estimate, InputError};
use crate::observer::{Cancelled, Stop};

/// Most shapes of a board that are solved, each in some milliseconds: those that most of the tracks have. The others are taken
/// as the most alike of these, or, if none has the same things beside it, have no impedance.
const SOLVED_MAX: usize = 80;

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
#[derive(Clone, Copy)]
struct Profile {
    width_m: f64,
    thickness_m: f64,
    /// Towards the nearest plane.
    plane: Side,
    /// Towards the other plane, or the insulation that covers the trace, if it is no outer one.
    other: Option<Side>,
    /// Whether there is a plane on the other side.
    is_between: bool,
    /// The solder mask of an outer one: thickness and permittivity.
    mask: Option<Side>,
    /// The gap to poured copper, and whether it is on both sides.
    pour_m: Option<(f64, bool)>,
    /// The gap to the other trace of the pair.
    mate_m: Option<f64>,
}

/// Finds the lines of all shapes, which come with the length of the tracks that have them.
pub(super) fn solve(
    scope: &Scope<'_>,
    shapes: &BTreeMap<Shape, f64>,
) -> Result<BTreeMap<Shape, Solved>, Cancelled> {
    let cache = Cache::default();
    let mut solved = BTreeMap::new();
    let mut open = Vec::new();
    for (shape, length) in shapes {
        let Some(profile) = Profile::of(scope.board, shape) else {
            continue;
        };
        match profile.in_closed_form() {
            Some(line) => drop(solved.insert(*shape, line)),
            None => open.push((*length, *shape, profile)),
        }
    }
    open.sort_by(|x, y| y.0.total_cmp(&x.0).then(x.1.cmp(&y.1)));
    let rest = open.split_off(open.len().min(SOLVED_MAX));
    let stop = || scope.is_stopped();
    let found = open.par_iter().map(|(_, shape, profile)| {
        scope.go_on()?;
        match profile.solved(&cache, &stop) {
            Err(SectionError::Stopped) => Err(Cancelled),
            line => Ok(line.ok().flatten().map(|line| (*shape, line))),
        }
    });
    let found: Vec<Option<(Shape, Solved)>> = found.collect::<Result<_, Cancelled>>()?;
    let found: BTreeMap<Shape, Solved> = found.into_iter().flatten().collect();
    let alike = rest
        .iter()
        .filter_map(|(_, shape, _)| Some((*shape, *most_alike(shape, &found)?)));
    solved.extend(alike);
    solved.extend(found);
    Ok(solved)
}

/// Of the solved shapes with the same trace and the same kinds of things beside it, the one with the most alike gaps.
fn most_alike<'a>(shape: &Shape, solved: &'a BTreeMap<Shape, Solved>) -> Option<&'a Solved> {
    let candidates = solved.iter().filter_map(|(other, line)| {
        let apart = shape.apart(other)?;
        Some((apart, line))
    });
    candidates
        .min_by_key(|(apart, _)| *apart)
        .map(|(_, line)| line)
}

impl Profile {
    fn of(board: &Board, shape: &Shape) -> Option<Self> {
        let stackup = &board.stackup;
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
        let mask = if shape.layer == 0 {
            board.masks[0]
        } else if shape.layer == last {
            board.masks[1]
        } else {
            None
        };
        Some(Self {
            width_m: shape.width_mm() / 1e3,
            thickness_m: stackup.copper.get(shape.layer).copied().unwrap_or(0.0) / 1e3,
            plane,
            other,
            is_between: shape.above && shape.below,
            mask: mask.map(|mask| Side {
                height_m: mask.thickness / 1e3,
                permittivity: mask.epsilon_r,
            }),
            pour_m: shape
                .beside
                .pour
                .map(|(gap, is_on_both)| (gap.mm() / 1e3, is_on_both)),
            mate_m: shape.beside.mate.map(|gap| gap.mm() / 1e3),
        })
    }

    /// By a closed form that holds.
    fn in_closed_form(&self) -> Option<Solved> {
        if self.mask.is_some() || self.pour_m.is_some() || self.mate_m.is_some() {
            return None;
        }
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

    /// By the two-dimensional solver. A pour on one side is the mean of none and one on both sides, within 3 %: what is
    /// on the other side of a trace changes a side's charge little.
    fn solved(&self, cache: &Cache, stop: Stop<'_>) -> Result<Option<Solved>, SectionError> {
        match (self.pour_m, self.mate_m) {
            (Some((gap, false)), None) => {
                let both = self.with_pour(Some(gap)).line(cache, stop)?;
                let none = self.with_pour(None).line(cache, stop)?;
                Ok(both.zip(none).and_then(|(both, none)| both.mean(&none)))
            }
            (pour, _) => self.with_pour(pour.map(|(gap, _)| gap)).line(cache, stop),
        }
    }

    fn with_pour(&self, gap_m: Option<f64>) -> Self {
        Self {
            pour_m: gap_m.map(|gap| (gap, true)),
            ..*self
        }
    }

    /// One trace, or one of a pair while the other one has the opposite voltage.
    fn line(&self, cache: &Cache, stop: Stop<'_>) -> Result<Option<Solved>, SectionError> {
        let plain = Section::microstrip(
            self.width_m,
            self.plane.height_m,
            self.thickness_m,
            self.plane.permittivity,
        );
        let section = Section {
            above: self.above(),
            coplanar_gap_m: self.pour_m.map(|(gap, _)| gap),
            ..plain
        };
        match self.mate_m {
            Some(gap) => {
                let found = cache.odd_unless(&section.with_neighbour(gap), stop)?;
                Ok(Solved::of_estimate(&found, found.value))
            }
            None => {
                let found = cache.solve_unless(&section, stop)?;
                Ok(Solved::of_estimate(&found, found.value.line(0)))
            }
        }
    }

    fn above(&self) -> Above {
        match (self.other, self.mask) {
            (Some(other), _) if self.is_between => Above::Plane {
                height_m: other.height_m + self.thickness_m,
                permittivity: other.permittivity,
            },
            // The insulation over a trace inside the board, with nothing on its far side.
            (Some(over), _) | (None, Some(over)) => Above::Mask {
                thickness_m: over.height_m,
                permittivity: over.permittivity,
            },
            (None, None) => Above::Air,
        }
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

    /// `line`, which comes from `found`.
    fn of_estimate<T>(found: &Estimate<T>, line: Option<Line>) -> Option<Self> {
        Self::of(&line?, found.method.id, !found.outside_validity())
    }

    /// The line whose capacitances, with and without insulation, are the means of both: C = √ε/(c·Z), C0 = 1/(c·Z·√ε).
    fn mean(&self, other: &Self) -> Option<Self> {
        let loaded = |line: &Self| line.permittivity.sqrt() / (LIGHT_SPEED * line.ohm);
        let empty = |line: &Self| 1.0 / (LIGHT_SPEED * line.ohm * line.permittivity.sqrt());
        let loaded = loaded(self).midpoint(loaded(other));
        let empty = empty(self).midpoint(empty(other));
        let line = Line {
            impedance_ohm: 1.0 / (LIGHT_SPEED * (loaded * empty).sqrt()),
            permittivity: loaded / empty,
        };
        Self::of(&line, self.method, self.is_valid && other.is_valid)
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
