//! A trace whose plane changes its net.

use super::walk::{Under, walk};
use super::{Assumption, Rule, Scope};
use crate::board::{LayerId, NetId};
use crate::copper::TrackRun;
use crate::finding::{Draft, Severity};
use crate::found::Found;
use crate::observer::Cancelled;

pub(super) static RULE: Rule = Rule {
    id: "plane-split",
    title: "A trace crosses from one plane to another",
    about: "Under the trace, the plane of one net ends and that of another begins. The return current has to find a capacitor \
            between both.",
    formula: "Nets of the planes beside a trace, before and after: none in common, and at most max(0.6 mm, 4·h) between \
              them, h the height above the plane. Copper shorter than 3·h between others does not count.",
    source: "exact crossing of the trace's middle with the outlines of fills",
    severity: "warning, critical on fast nets",
    validity: "signals on layers beside a layer with filled zones of a ground or supply of more than 4 mm²",
    params: &[],
    assumes: &[Assumption::Stackup],
    check,
};

/// Shortest plane that counts, in heights above it.
const HEIGHTS_MIN: f64 = 3.0;

/// The gap between two planes that is a split and no gap yet, in mm, and in heights: the field bridges it.
const SPLIT_MM_MAX: f64 = 0.6;
const SPLIT_HEIGHTS_MAX: f64 = 4.0;

/// Between planes of different nets beside `layer`, wider gaps are for plane-gap.
pub(super) fn split_mm_max(scope: &Scope<'_>, layer: LayerId) -> f64 {
    let nearest = scope.planes.references(layer).first();
    SPLIT_MM_MAX.max(SPLIT_HEIGHTS_MAX * nearest.map_or(0.0, |r| r.height))
}

fn check(scope: &Scope<'_>) -> Result<Found, Cancelled> {
    scope.each(&scope.signal_runs(), |run| splits(scope, run))
}

fn splits(scope: &Scope<'_>, run: &TrackRun) -> Vec<Draft> {
    let height = scope
        .planes
        .references(run.layer)
        .first()
        .map_or(0.0, |r| r.height);
    let split_max = split_mm_max(scope, run.layer);
    let mut found = Vec::new();
    let mut before: Option<(Vec<NetId>, f64)> = None;
    for ground in walk(scope, run) {
        let Under::Planes(nets) = &ground.under else {
            continue;
        };
        if ground.length() < HEIGHTS_MIN * height {
            continue;
        }
        if let Some((old, end)) = &before {
            let is_other = old.iter().all(|net| !nets.contains(net));
            if is_other && ground.from - end <= split_max {
                let severity = scope.graded(run.net, Severity::Critical, Severity::Warning);
                let detail = format!(
                    "on {}, the reference changes from {} to {}",
                    scope.layer_name(run.layer),
                    names(scope, old),
                    names(scope, nets)
                );
                let draft = Draft::new(
                    severity,
                    run.at(end.midpoint(ground.from)),
                    RULE.title,
                    detail,
                );
                found.push(draft.net(run.net).layer(run.layer));
            }
        }
        before = Some((nets.clone(), ground.to));
    }
    found
}

/// The names of some nets, for people.
pub(super) fn names(scope: &Scope<'_>, nets: &[NetId]) -> String {
    let names: Vec<&str> = nets
        .iter()
        .map(|net| scope.net(*net).name.as_str())
        .collect();
    names.join(" and ")
}
