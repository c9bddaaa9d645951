//! A signal that changes layers, and a return current that cannot.

use std::collections::BTreeMap;

use super::{Param, Rule, Scope};
use crate::board::{LayerId, LayerSet, NetId, Via};
use crate::finding::{Draft, Severity};
use crate::found::Found;
use crate::geometry::Point;
use crate::observer::Cancelled;

pub(super) static RULE: Rule = Rule {
    id: "return-via",
    title: "A signal changes layers without a return via",
    about: "When a signal changes from one layer to another, its return current changes from one plane to the other. Without a \
            via between the planes nearby it spreads between them.",
    formula: "Planes around the via, beside the uppermost and lowest layer with a track: none in common. Same net: distance to \
              the nearest via or plated hole that joins both layers. Different nets: distance to the nearest capacitor between \
              them.",
    source: "Ott 2009, chapter 16; distance as published by the EmbeddedCI analyzer",
    severity: "warning if planes of one net are joined farther away than max_distance_mm; info if only a capacitor could join them",
    validity: "vias of signals with tracks on two layers that both have planes beside them",
    params: &[Param {
        key: "max_distance_mm",
        default: 2.0,
        about: "farther joints are too far",
    }],
    assumes: &[],
    check,
};

/// Outside the via's own antipad, in mm from its copper.
const PROBE_MM: f64 = 0.8;

/// In how many directions it is looked around a via.
const PROBES: u32 = 16;

/// How far it is looked for joints, in mm.
const SEARCH_MM: f64 = 25.0;

/// How far a capacitor between two planes may be from a via, in mm.
const CAPACITOR_MM_MAX: f64 = 5.0;

/// A plane: its layer and its net.
type Plane = (LayerId, NetId);

fn check(scope: &Scope<'_>) -> Result<Found, Cancelled> {
    let board = scope.board;
    let signals: Vec<&Via> = board
        .vias
        .iter()
        .filter(|via| scope.is_signal(via.net))
        .collect();
    scope.each(&signals, |via| change(scope, via).into_iter().collect())
}

fn change(scope: &Scope<'_>, via: &Via) -> Option<Draft> {
    let tracks = scope.contacts.tracks_at(via.net, via.span, via.at);
    let layers = tracks.iter().fold(LayerSet::NONE, |set, track| {
        set.with(LayerSet::only(scope.board.tracks[*track].layer))
    });
    let (upper, lower) = (layers.top()?, layers.bottom()?);
    if upper == lower {
        return None;
    }
    let (above, below) = (around(scope, via, upper), around(scope, via, lower));
    if above.is_empty() || below.is_empty() || above.iter().any(|plane| below.contains(plane)) {
        return None;
    }
    let same_net = above
        .iter()
        .find_map(|a| Some((*a, *below.iter().find(|b| a.1 == b.1)?)));
    match same_net {
        Some((a, b)) => joint_too_far(scope, via, upper, a, b),
        None => no_capacitor(scope, via, upper, above[0], below[0]),
    }
}

/// The planes that most of the surroundings of a via have beside a layer, the most frequent first.
fn around(scope: &Scope<'_>, via: &Via, layer: LayerId) -> Vec<Plane> {
    let mut counts: BTreeMap<Plane, u32> = BTreeMap::new();
    for probe in 0..PROBES {
        let (sin, cos) = (std::f64::consts::TAU * f64::from(probe) / f64::from(PROBES)).sin_cos();
        let at = via.at + Point::new(cos, sin) * (via.size / 2.0 + PROBE_MM);
        for fill in scope.planes.over(layer, at) {
            let fill = &scope.board.fills[fill];
            *counts.entry((fill.layer, fill.net)).or_default() += 1;
        }
    }
    let mut planes: Vec<(Plane, u32)> = counts
        .into_iter()
        .filter(|(_, count)| PROBES / 4 < *count)
        .collect();
    planes.sort_by_key(|(plane, count)| (std::cmp::Reverse(*count), *plane));
    planes.into_iter().map(|(plane, _)| plane).collect()
}

fn joint_too_far(
    scope: &Scope<'_>,
    via: &Via,
    upper: LayerId,
    a: Plane,
    b: Plane,
) -> Option<Draft> {
    let limit = scope.param_of("max_distance_mm", via.net);
    let both = LayerSet::only(a.0).with(LayerSet::only(b.0));
    let joints = scope.joints.among(a.1);
    let nearest = joints.nearest(via.at, SEARCH_MM.max(limit), |joint| {
        joint.net == a.1 && joint.span.covers(both)
    });
    let distance = nearest.map(|(distance, ..)| distance);
    if distance.is_some_and(|distance| distance <= limit) {
        return None;
    }
    let far = distance.map_or(format!("more than {SEARCH_MM} mm"), |d| {
        format!("{d:.1} mm")
    });
    let detail = format!(
        "the nearest via or plated hole of {} that joins {} and {} is {far} away",
        scope.net(a.1).name,
        scope.layer_name(a.0),
        scope.layer_name(b.0),
    );
    let severity = scope.graded(via.net, Severity::Warning, Severity::Warning);
    let draft = Draft::new(severity, via.at, RULE.title, detail)
        .net(via.net)
        .layer(upper);
    Some(draft.measure(distance.unwrap_or(SEARCH_MM), limit, "mm"))
}

fn no_capacitor(scope: &Scope<'_>, via: &Via, upper: LayerId, a: Plane, b: Plane) -> Option<Draft> {
    let near = |net: NetId| {
        scope
            .contacts
            .pads_near(net, scope.board.all_layers(), via.at, CAPACITOR_MM_MAX)
    };
    let is_capacitor = |footprint: usize| scope.board.footprints[footprint].is_capacitor();
    let joined = near(a.1).any(|pad| {
        is_capacitor(pad.footprint) && scope.board.footprints[pad.footprint].nets.contains(&b.1)
    });
    if joined {
        return None;
    }
    let detail = format!(
        "the reference changes from {} on {} to {} on {}; no capacitor joins them within {CAPACITOR_MM_MAX} mm",
        scope.net(a.1).name,
        scope.layer_name(a.0),
        scope.net(b.1).name,
        scope.layer_name(b.0),
    );
    Some(
        Draft::new(Severity::Info, via.at, RULE.title, detail)
            .net(via.net)
            .layer(upper),
    )
}
