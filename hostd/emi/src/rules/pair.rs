//! Pairs whose nets go different ways.

use super::{Param, Rule, Scope};
use crate::board::{LayerId, NetId};
use crate::copper::whole;
use crate::finding::{Draft, Severity};
use crate::found::Found;
use crate::geometry::{Point, Segment};
use crate::kinds::pairs;
use crate::observer::Cancelled;

pub(super) static RULE: Rule = Rule {
    id: "pair",
    title: "The nets of a pair part",
    about: "Where the nets of a pair go different ways, each needs its own return current, and what couples into one couples into the \
            other no more.",
    formula: "Along one net: distance to the other one's nearest track on the layer; the middle value of all is the pair's spacing. \
              Length with more than twice that, or without the other one, > max_uncoupled_mm.",
    source: "Johnson & Graham 1993",
    severity: "warning",
    validity: "pairs by name, as ddr-skew has them, tracks of both on one layer",
    params: &[Param {
        key: "max_uncoupled_mm",
        default: 5.0,
        about: "this much is needed to reach pads",
    }],
    assumes: &[],
    check,
};

/// How often it is looked, in mm.
const STEP_MM: f64 = 0.5;

/// How far the other net is looked for, in mm.
const SEARCH_MM: f64 = 5.0;

fn check(scope: &Scope<'_>) -> Result<Found, Cancelled> {
    scope.each(&pairs(scope.board), |pair| {
        parted(scope, *pair).into_iter().collect()
    })
}

/// A place on a net, and how far the other net is.
struct Spot {
    at: Point,
    layer: LayerId,
    length: f64,
    distance: f64,
}

fn parted(scope: &Scope<'_>, (positive, negative): (NetId, NetId)) -> Option<Draft> {
    let spots = spots(scope, positive, negative);
    let mut distances: Vec<f64> = spots
        .iter()
        .map(|spot| spot.distance)
        .filter(|d| d.is_finite())
        .collect();
    distances.sort_by(f64::total_cmp);
    let spacing = *distances.get(distances.len() / 2)?;
    let apart: Vec<&Spot> = spots
        .iter()
        .filter(|spot| 2.0 * spacing < spot.distance)
        .collect();
    let length: f64 = apart.iter().map(|spot| spot.length).sum();
    let limit = scope.param_of("max_uncoupled_mm", positive);
    let worst = apart
        .iter()
        .max_by(|x, y| x.distance.total_cmp(&y.distance))
        .filter(|_| limit < length)?;
    let detail = format!(
        "{length:.1} mm of {} are farther than {:.2} mm from {}, whose usual distance is {spacing:.2} mm",
        scope.net(positive).name,
        2.0 * spacing,
        scope.net(negative).name
    );
    let draft = Draft::new(Severity::Warning, worst.at, RULE.title, detail)
        .net(positive)
        .layer(worst.layer);
    Some(draft.measure(length, limit, "mm"))
}

fn spots(scope: &Scope<'_>, net: NetId, other: NetId) -> Vec<Spot> {
    let mut spots = Vec::new();
    for run in scope.runs_of(net) {
        for line in &run.lines {
            let near = scope.contacts.tracks_along(run.layer, line, SEARCH_MM);
            let near = near.into_iter().map(|index| &scope.board.tracks[index]);
            let lines: Vec<&Segment> = near
                .filter(|track| track.net == other)
                .map(|track| &track.line)
                .collect();
            let count = whole(line.length() / STEP_MM) + 1;
            for place in 0..count {
                let at = line.at((place as f64 + 0.5) / count as f64);
                let distance = lines
                    .iter()
                    .map(|line| line.distance(at))
                    .fold(f64::INFINITY, f64::min);
                spots.push(Spot {
                    at,
                    layer: run.layer,
                    length: line.length() / count as f64,
                    distance,
                });
            }
        }
    }
    spots
}
