//! Pours that are painted: many lines beside each other that overlap, as old programs fill areas. Only lines that overlap
//! are taken, so the copper is what it was: as one piece, planes can be found in it.

use std::collections::HashMap;

use super::budget::Budget;
use super::error::OpenError;
use super::pieces::{Copper, Piece, pours};
use crate::copper::SegmentGrid;
use crate::geometry::{Segment, Shape};
use crate::gerber::Role;
use crate::gerber::polygons::union;
use crate::limits::Limits;
use crate::observer::Observer;

/// Fewest lines of a painted pour. Nobody makes a track of so many.
const LINES_MIN: usize = 8;

/// How far apart lines of a painted pour are at most, in parts of their width.
const STEP_MAX: f64 = 0.98;

/// How much longer than wide they are at least.
const LENGTH_MIN: f64 = 1.5;

/// Replaces lines that paint an area by pieces of a pour.
pub(super) fn filled(
    pieces: Vec<Piece>,
    limits: &Limits,
    observer: &dyn Observer,
) -> Result<Vec<Piece>, OpenError> {
    let line_of = |piece: &Piece| match piece.copper {
        Copper::Track { line, width } => {
            let is_long = line.length() > LENGTH_MIN * width && width > 0.0;
            (is_long && !matches!(piece.role, Role::Pad | Role::Via)).then_some((line, width))
        }
        _ => None,
    };
    let lines: Vec<(usize, Segment, f64)> = pieces
        .iter()
        .enumerate()
        .filter_map(|(index, piece)| line_of(piece).map(|(line, width)| (index, line, width)))
        .collect();
    if lines.len() < LINES_MIN {
        return Ok(pieces);
    }
    let mut budget = Budget::new(lines.len(), limits, observer);
    let grid = SegmentGrid::new(
        lines.iter().map(|(_, line, _)| *line).collect(),
        &budget.stop(),
    );
    let mut sets = Sets::new(lines.len());
    let mut near = Vec::new();
    for (at, (index, line, width)) in lines.iter().enumerate() {
        budget.spend(grid.crowd(line, width * STEP_MAX))?;
        grid.along(line, width * STEP_MAX, &mut near);
        for other in near.iter().copied().filter(|other| *other > at) {
            let (piece, with, of_width) = &lines[other];
            let is_alike = of_width == width && pieces[*piece].label == pieces[*index].label;
            if is_alike && are_beside(line, with, *width) {
                sets.join(at, other);
            }
        }
    }
    Ok(replace(pieces, &lines, &mut sets))
}

fn replace(pieces: Vec<Piece>, lines: &[(usize, Segment, f64)], sets: &mut Sets) -> Vec<Piece> {
    let mut groups: HashMap<usize, Vec<usize>> = HashMap::new();
    for at in 0..lines.len() {
        groups.entry(sets.root(at)).or_default().push(at);
    }
    let mut painted: Vec<Vec<usize>> = groups
        .into_values()
        .filter(|g| g.len() >= LINES_MIN)
        .collect();
    painted.sort();
    let mut is_gone = vec![false; pieces.len()];
    let mut made = Vec::new();
    for group in painted {
        let first = &pieces[lines[group[0]].0];
        let strokes: Vec<Shape> = group
            .iter()
            .map(|at| {
                let (index, line, width) = lines[*at];
                is_gone[index] = true;
                Shape::stroke(line.a, line.b, width)
            })
            .collect();
        made.extend(pours(
            &union(&strokes),
            first.layer,
            first.role,
            first.label,
        ));
    }
    let mut index = 0;
    let mut kept: Vec<Piece> = pieces;
    kept.retain(|_| {
        index += 1;
        !is_gone[index - 1]
    });
    kept.extend(made);
    kept
}

/// Whether two lines of the same width are parallel and overlap over half of the shorter one.
fn are_beside(a: &Segment, b: &Segment, width: f64) -> bool {
    const TURN_MAX: f64 = 0.01;
    let (x, y) = (a.b - a.a, b.b - b.a);
    let (length, other) = (x.length(), y.length());
    if x.cross(y).abs() > TURN_MAX * length * other {
        return false;
    }
    let along = x * (1.0 / length);
    let apart = along.cross(b.at(0.5) - a.a).abs();
    let (from, to) = ((b.a - a.a).dot(along), (b.b - a.a).dot(along));
    let shared = from.max(to).min(length) - from.min(to).max(0.0);
    apart > 1e-4 && apart <= width * STEP_MAX && shared >= 0.5 * length.min(other)
}

/// Sets of things that belong together.
pub(super) struct Sets(Vec<usize>);

impl Sets {
    pub(super) fn new(count: usize) -> Self {
        Self((0..count).collect())
    }

    pub(super) fn root(&mut self, mut of: usize) -> usize {
        while self.0[of] != of {
            self.0[of] = self.0[self.0[of]];
            of = self.0[of];
        }
        of
    }

    pub(super) fn join(&mut self, x: usize, y: usize) {
        let (x, y) = (self.root(x), self.root(y));
        // The lower index stays, so that the outcome does not depend on the order of joining.
        self.0[x.max(y)] = x.min(y);
    }
}
