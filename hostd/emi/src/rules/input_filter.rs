//! Supplies that come in through connectors.

use super::{Param, Rule, Scope};
use crate::board::{NetId, NetKind, Pad};
use crate::finding::{Draft, Severity};
use crate::found::Found;
use crate::observer::Cancelled;

pub(super) static RULE: Rule = Rule {
    id: "input-filter",
    title: "A supply has no capacitor where it comes in",
    about: "Without a capacitor at the connector, the switching current of the loads flows out along the cable, which radiates, and a \
            surge meets nothing on its way in.",
    formula: "Distance from the connector's pad to the nearest capacitor to ground, of the net itself or behind one fuse, bead, \
              choke, resistor or diode.",
    source: "distances as published by the EmbeddedCI analyzer",
    severity: "warning",
    validity: "connectors within edge_mm of the outline",
    params: &[
        Param {
            key: "edge_mm",
            default: 5.0,
            about: "connectors farther inside are not for cables; 0 for all",
        },
        Param {
            key: "max_distance_mm",
            default: 15.0,
            about: "farther capacitors do not count",
        },
    ],
    assumes: &[],
    check,
};

fn check(scope: &Scope<'_>) -> Result<Found, Cancelled> {
    scope.each(&scope.parts(), |part| {
        if !scope.part(*part).is_connector() || !scope.is_at_edge(*part, scope.param("edge_mm")) {
            return Vec::new();
        }
        let supplies = scope
            .part(*part)
            .nets
            .iter()
            .filter(|net| scope.net(**net).kind == NetKind::Power);
        supplies
            .filter_map(|net| unfiltered(scope, *part, *net))
            .collect()
    })
}

fn unfiltered(scope: &Scope<'_>, part: usize, net: NetId) -> Option<Draft> {
    let limit = scope.param_of("max_distance_mm", net);
    let pads: Vec<&Pad> = scope
        .pads_of_part(part)
        .filter(|pad| pad.net == net)
        .collect();
    let nearest = |of: NetId| {
        let gaps = scope
            .capacitor_pads(of)
            .take_while(|_| !scope.is_stopped())
            .flat_map(|capacitor| pads.iter().map(move |pad| pad.gap(capacitor)));
        gaps.min_by(f64::total_cmp)
    };
    let series = scope
        .pads_of(net)
        .map(|pad| pad.footprint)
        .filter(|other| scope.part(*other).is_in_series());
    let behind = series.flat_map(|other| scope.part(other).nets.iter().copied());
    let behind = behind.filter(|other| *other != net && !scope.is_ground(*other));
    let distances = std::iter::once(net).chain(behind).filter_map(nearest);
    let distance = distances.min_by(f64::total_cmp);
    if distance.is_some_and(|distance| distance <= limit) {
        return None;
    }
    let name = &scope.net(net).name;
    let detail = match distance {
        Some(distance) => {
            format!("the nearest capacitor of {name} to ground is {distance:.1} mm away")
        }
        None => format!("{name} has no capacitor to ground"),
    };
    let at = pads.first()?.at;
    let draft = Draft::new(Severity::Warning, at, RULE.title, detail)
        .net(net)
        .layer(scope.mount(part))
        .footprint(part);
    Some(match distance {
        Some(distance) => draft.measure(distance, limit, "mm"),
        None => draft,
    })
}
