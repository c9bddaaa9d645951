//! Traces near the edge of their plane.

use super::{Assumption, Param, Rule, Scope};
use crate::copper::{TrackRun, steps};
use crate::finding::{Draft, Severity};
use crate::found::Found;
use crate::geometry::{Point, Segment};
use crate::observer::Cancelled;

pub(super) static RULE: Rule = Rule {
    id: "edge-proximity",
    title: "A trace runs near the edge of its plane",
    about: "The return current spreads to both sides of its trace. Near the edge of the plane a part of it is squeezed together, and \
            the field reaches around the edge.",
    formula: "Current that an infinite plane has beyond an edge at D: ½ − atan(D/h)/π; 10 % at D = 3·h. D: from the trace's middle \
              to the last copper of the plane on the way to the nearest outline. Of a net and layer: the worst place, if at least \
              min_length_mm are too near.",
    source: "current under a trace, i(D) ~ 1/(1 + (D/h)²): Johnson & Graham 1993",
    severity: "warning; info on slow nets",
    validity: "signals over a plane, on boards with an outline",
    params: &[
        Param {
            key: "max_lost_pct",
            default: 10.0,
            about: "this part may be beyond the edge",
        },
        Param {
            key: "min_length_mm",
            default: 3.0,
            about: "shorter stretches do not matter",
        },
    ],
    assumes: &[Assumption::Stackup],
    check,
};

/// How often it is looked, in mm.
const STEP_MM: f64 = 0.5;

/// How far the edge of a plane is from the outline at most, in mm: beyond, it is no edge of the board.
const PULLBACK_MM_MAX: f64 = 3.0;

/// The part of the return current beyond an edge.
pub(super) fn lost(distance: f64, height: f64) -> f64 {
    0.5 - (distance / height).atan() / std::f64::consts::PI
}

/// A place near an edge.
struct Near {
    at: Point,
    distance: f64,
}

fn check(scope: &Scope<'_>) -> Result<Found, Cancelled> {
    if scope.board.outline.is_empty() {
        return Ok(Found::default());
    }
    let runs = scope
        .runs
        .chunk_by(|x, y| (x.net, x.layer) == (y.net, y.layer));
    let signals: Vec<&[TrackRun]> = runs.filter(|runs| scope.is_signal(runs[0].net)).collect();
    scope.each(&signals, |runs| {
        near_edge(scope, runs).into_iter().collect()
    })
}

fn near_edge(scope: &Scope<'_>, runs: &[TrackRun]) -> Option<Draft> {
    let (net, layer) = (runs[0].net, runs[0].layer);
    let reference = *scope.planes.references(layer).first()?;
    let limit = scope.param_of("max_lost_pct", net) / 100.0;
    let mut length = 0.0;
    let mut worst: Option<Near> = None;
    for line in runs.iter().flat_map(|run| &run.lines) {
        if scope.is_stopped() {
            break;
        }
        let count = steps(line.length(), STEP_MM) + 1;
        for place in 0..count {
            let at = line.at((place as f64 + 0.5) / count as f64);
            let Some(distance) = to_edge(scope, at, reference, limit) else {
                continue;
            };
            length += line.length() / count as f64;
            if worst.as_ref().is_none_or(|near| distance < near.distance) {
                worst = Some(Near { at, distance });
            }
        }
    }
    let worst = worst.filter(|_| scope.param_of("min_length_mm", net) <= length)?;
    let part = lost(worst.distance, reference.height);
    let detail = format!(
        "{length:.1} mm on {}; {:.2} mm from the edge of {}, {:.2} mm above it, {:.0} % of the return current have no plane",
        scope.layer_name(layer),
        worst.distance,
        scope.layer_name(reference.layer),
        reference.height,
        100.0 * part,
    );
    let severity = scope.graded(net, Severity::Warning, Severity::Warning);
    let draft = Draft::new(severity, worst.at, RULE.title, detail)
        .net(net)
        .layer(layer);
    Some(draft.measure(100.0 * part, 100.0 * limit, "%"))
}

/// The distance from a place to the edge of the plane at the outline, if so much is lost there.
fn to_edge(
    scope: &Scope<'_>,
    at: Point,
    reference: crate::copper::Reference,
    limit: f64,
) -> Option<f64> {
    // The distance at which exactly `limit` is lost.
    let far = reference.height * (std::f64::consts::PI * (0.5 - limit)).tan();
    let (side, _) = scope.outline.nearest(at, far + PULLBACK_MM_MAX)?;
    let side = scope.outline.segment(side);
    let way = Segment::new(at, side.at(side.nearest(at)));
    let parts = scope.planes.cover(reference.layer, &way);
    let first = parts.first().filter(|part| part.0 <= 0.0)?;
    let end = parts.last().unwrap_or(first).1;
    let distance = end * way.length();
    let is_edge = way.length() - distance <= PULLBACK_MM_MAX;
    (is_edge && limit < lost(distance, reference.height)).then_some(distance)
}
