//! Layers of signals without a plane beside them.

use super::around::{BESIDE_MM, BESIDE_PART};
use super::{Assumption, Rule, Scope};
use crate::board::LayerId;
use crate::copper::whole;
use crate::finding::{Draft, Severity};
use crate::found::Found;
use crate::geometry::Bounds;
use crate::observer::Cancelled;

pub(super) static RULE: Rule = Rule {
    id: "stackup",
    title: "A layer of signals has no plane beside it",
    about: "Signals need a plane on a neighbouring layer for their return current. Two layers of signals beside each other \
            couple broadside.",
    formula: "A layer with 5 % of the board's signal tracks, at least 20 mm: no neighbour whose planes have 25 % of the area of \
              the box around the outline, and 20 % of the tracks without a plane within 1 mm beside them on their own layer.",
    source: "Ott 2009, chapter 16",
    severity: "warning",
    validity: "boards with filled zones or without any; a board of one layer has no neighbour",
    params: &[],
    assumes: &[Assumption::Always(
        "the box around the outline is the board's area",
    )],
    check,
};

/// A layer has signals from this part of all on.
const SIGNAL_PART: f64 = 0.05;

/// And from this length on, in mm.
const SIGNAL_MM: f64 = 20.0;

/// A layer is a plane from this part of the board's area on.
const PLANE_PART: f64 = 0.25;

/// How much of the signals on a layer has a plane beside it on the layer itself, from 0 to 1.
fn beside(scope: &Scope<'_>, layer: LayerId) -> f64 {
    let (mut all, mut with_plane) = (0.0, 0.0);
    let runs = scope.signal_runs();
    let runs = runs.into_iter().filter(|run| run.layer == layer);
    for run in runs.take_while(|_| !scope.is_stopped()) {
        for (line, width) in run.lines.iter().zip(&run.widths) {
            let count = whole(line.length() / BESIDE_MM) + 1;
            let length = line.length() / count as f64;
            for place in 0..count {
                let at = line.at((place as f64 + 0.5) / count as f64);
                let near = scope.planes.edge_on(layer, at, BESIDE_MM + width / 2.0);
                all += length;
                with_plane += near.map_or(0.0, |_| length);
            }
        }
    }
    if all > 0.0 { with_plane / all } else { 0.0 }
}

fn check(scope: &Scope<'_>) -> Result<Found, Cancelled> {
    let board = scope.board;
    let mut lengths = vec![0.0; board.layers.len()];
    let mut bounds = vec![Bounds::EMPTY; board.layers.len()];
    for run in scope.signal_runs() {
        lengths[run.layer] += run.length();
        for line in &run.lines {
            bounds[run.layer].add(line.a);
            bounds[run.layer].add(line.b);
        }
    }
    let all: f64 = lengths.iter().sum();
    let has_signals = |layer: LayerId| SIGNAL_MM.max(SIGNAL_PART * all) <= lengths[layer];
    // A zone that was not filled may be a plane.
    let is_plane = |layer: LayerId| {
        PLANE_PART * board.area() <= scope.planes.area(layer) || board.unfilled.has(layer)
    };
    let neighbours = |layer: LayerId| {
        let below = Some(layer + 1).filter(|below| *below < board.layers.len());
        [layer.checked_sub(1), below].into_iter().flatten()
    };
    let bare = (0..board.layers.len())
        .filter(|layer| has_signals(*layer) && !neighbours(*layer).any(is_plane))
        .filter(|layer| beside(scope, *layer) < BESIDE_PART);
    let found = bare.map(|layer| {
        let beside: Vec<String> = neighbours(layer)
            .map(|near| {
                let part = 100.0 * scope.planes.area(near) / board.area().max(f64::MIN_POSITIVE);
                format!("{} ({part:.0} % plane)", scope.layer_name(near))
            })
            .collect();
        let beside = if beside.is_empty() {
            "nothing".to_owned()
        } else {
            beside.join(" and ")
        };
        let detail = format!(
            "{} has {:.0} mm of signals; beside it is {beside}",
            scope.layer_name(layer),
            lengths[layer],
        );
        // It is about all signals of the layer, so it is in the middle of them.
        Draft::new(
            Severity::Warning,
            bounds[layer].center(),
            RULE.title,
            detail,
        )
        .layer(layer)
        .bounds(bounds[layer])
    });
    let found = scope.found(found);
    // What was left early was not looked at as a whole.
    scope.go_on()?;
    Ok(found)
}
