//! Holes of all drill files, where they lie on the copper.

use super::align::{Fit, fit};
use super::budget::Budget;
use super::error::{OpenError, shown};
use super::names;
use crate::board::LayerSet;
use crate::excellon::Drills;
use crate::geometry::Point;

/// A hole of a board.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Hole {
    /// Its middle; of a slot, halfway.
    pub(super) at: Point,
    pub(super) diameter: f64,
    /// Whether there is copper in it, if a file says.
    pub(super) is_plated: Option<bool>,
    /// Whether it is of a via, if a file says.
    pub(super) is_via: Option<bool>,
    pub(super) span: LayerSet,
}

/// The holes of some drill files. `middles` are those of all copper that was put down.
pub(super) fn of(
    files: Vec<(String, Drills)>,
    middles: &[Point],
    layers: usize,
    budget: &mut Budget<'_>,
    notes: &mut Vec<String>,
) -> Result<Vec<Hole>, OpenError> {
    // Files of one board share their zero. The one with the most holes says where it is.
    let points =
        |drills: &Drills| -> Vec<Point> { drills.holes.iter().map(|hole| hole.at).collect() };
    let largest = files.iter().max_by_key(|(_, drills)| drills.holes.len());
    let largest = match largest {
        Some((name, drills)) => Some((name, fit(&points(drills), middles, budget)?)),
        None => None,
    };
    let by = match largest {
        Some((_, Fit::Moved(by))) => {
            notes.push(format!(
                "the drill files have another zero than the Gerbers; they were moved by {:.3} mm, {:.3} mm",
                by.x,
                0.0 - by.y
            ));
            by
        }
        Some((name, Fit::Nowhere)) => {
            notes.push(format!(
                "the holes of {} are on no pads: layers may seem unconnected; check its unit and its zero",
                shown(name)
            ));
            Point::default()
        }
        Some((_, Fit::Same)) | None => Point::default(),
    };
    let mut holes = Vec::new();
    for (name, drills) in files {
        let said = drills.is_plated.or_else(|| names::is_plated(&name));
        let span = drills
            .span
            .filter(|(from, to)| (1..=layers).contains(from) && (1..=layers).contains(to));
        let span = span.map_or(LayerSet::first(layers), |(from, to)| {
            LayerSet::span(from - 1, to - 1)
        });
        notes.extend(
            drills
                .notes
                .iter()
                .map(|note| format!("{}: {note}", shown(&name))),
        );
        holes.extend(drills.holes.iter().map(|hole| Hole {
            at: hole.at.lerp(hole.to, 0.5) + by,
            diameter: hole.diameter,
            is_plated: hole.is_plated.or(said),
            is_via: hole.is_via,
            span,
        }));
    }
    Ok(holes)
}
