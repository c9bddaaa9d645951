//! Supply pins and their capacitors.

use std::collections::BTreeMap;

use super::{Assumption, Param, Rule, Scope};
use crate::board::{NetId, NetKind, Pad, Pin};
use crate::finding::{Draft, Severity};
use crate::found::Found;
use crate::observer::Cancelled;

pub(super) static RULE: Rule = Rule {
    id: "decoupling",
    title: "A supply pin is far from its capacitor",
    about: "The current of an edge comes from the nearest capacitor. The inductance of the loop through both is what keeps the \
            capacitor from helping.",
    formula: "Of each circuit and supply: the pin farthest from a capacitor between the supply and a ground, copper to copper. Pads of \
              one number are one pin. A net behind 0 Ω or a net tie is the same supply; parts that are not populated do not count. \
              Estimate: L = μ0·h·d/w, h the height above the plane, d the distance, w the capacitor's pad. Capacitors: distance of \
              the ground pad to a via, copper to copper, or in a fill.",
    source: "inductance of a flat loop: Johnson & Graham 1993; distances as published by the EmbeddedCI analyzer",
    severity: "warning from max_distance_mm on, critical from critical_distance_mm on, if the pin takes the supply for certain: a pin \
               whose type the file lacks, alone on one of several supplies, may be an input that is tied to it, and a pin that makes a \
               supply takes none; warning if a capacitor's ground pad has no via \
               within max_ground_via_mm",
    validity: "parts U… and IC… with a pin on a supply and one on a ground; capacitors C…. Pins that the file calls inputs or outputs \
               are none of a supply",
    params: &[
        Param {
            key: "max_distance_mm",
            default: 3.0,
            about: "farther capacitors are far",
        },
        Param {
            key: "critical_distance_mm",
            default: 10.0,
            about: "and this is too far",
        },
        Param {
            key: "max_ground_via_mm",
            default: 1.0,
            about: "of a capacitor's ground pad to a via",
        },
    ],
    assumes: &[
        Assumption::Stackup,
        Assumption::Always(
            "the loop is as wide as the capacitor's pad and as high as the layer above its plane",
        ),
    ],
    check,
};

/// How far it is looked for capacitors, in mm.
const SEARCH_MM: f64 = 25.0;

/// μ0 in nH/mm.
const MU_0_NH_MM: f64 = 1.256_637;

fn check(scope: &Scope<'_>) -> Result<Found, Cancelled> {
    let far = scope.each(&scope.parts(), |part| pins(scope, *part))?;
    let bare = scope.each(&scope.parts(), |part| {
        ground_pad(scope, *part).into_iter().collect()
    })?;
    Ok(far.with(bare))
}

fn pins(scope: &Scope<'_>, index: usize) -> Vec<Draft> {
    let part = scope.part(index);
    if !part.is_circuit() || part.is_clamp() || !scope.joins_ground(index) {
        return Vec::new();
    }
    let supplies = part
        .nets
        .iter()
        .filter(|net| scope.net(**net).kind == NetKind::Power);
    supplies
        .filter_map(|net| worst_pin(scope, index, *net))
        .collect()
}

/// A pad, and the nearest capacitor.
type Measured<'a> = (&'a Pad, Option<(f64, &'a Pad)>);

fn worst_pin(scope: &Scope<'_>, index: usize, net: NetId) -> Option<Draft> {
    let pads = scope.pads_of_part(index).filter(|pad| pad.net == net);
    // An input that is tied to a supply takes no current from it.
    let pads = pads.filter(|pad| pad.pin != Pin::Signal);
    let distance = |near: &Option<(f64, &Pad)>| near.map_or(f64::INFINITY, |(d, _)| d);
    let nearer = |x: &Measured<'_>, y: &Measured<'_>| distance(&x.1).total_cmp(&distance(&y.1));
    let mut pins: BTreeMap<&str, Measured<'_>> = BTreeMap::new();
    let mut nameless: Vec<Measured<'_>> = Vec::new();
    for pad in pads.take_while(|_| !scope.is_stopped()) {
        let measured = (pad, nearest(scope, pad));
        // Pads of one number are one pin; those without a number are pins of their own.
        if pad.number.is_empty() {
            nameless.push(measured);
            continue;
        }
        let known = pins.entry(pad.number.as_str()).or_insert(measured);
        if nearer(&measured, known).is_lt() {
            *known = measured;
        }
    }
    let all = pins.into_values().chain(nameless);
    let (pin, near) = all.max_by(nearer)?;
    let (limit, critical) = (
        scope.param_of("max_distance_mm", net),
        scope.param_of("critical_distance_mm", net),
    );
    let value = distance(&near).min(SEARCH_MM.max(critical));
    if value <= limit {
        return None;
    }
    let severity = if critical < value && is_certain(scope, index, pin) {
        Severity::Critical
    } else {
        Severity::Warning
    };
    let name = &scope.net(net).name;
    let pin_name = &pin.number;
    let detail = match near {
        None => {
            format!("pin {pin_name} has no capacitor from {name} to ground within {SEARCH_MM} mm")
        }
        Some((_, pad)) => {
            let capacitor = &scope.part(pad.footprint).reference;
            let loops = loop_nh(scope, index, pad, value);
            let loops = loops.map_or(String::new(), |nh| {
                format!("; the way there and back is about {nh:.1} nH")
            });
            format!(
                "pin {pin_name} is {value:.1} mm from {capacitor}, the nearest capacitor of {name}{loops}"
            )
        }
    };
    let draft = Draft::new(severity, pin.at, RULE.title, detail)
        .net(net)
        .layer(scope.mount(index));
    Some(draft.footprint(index).measure(value, limit, "mm"))
}

/// Whether a pin takes a supply for certain: its type says so, or it is one of several on that supply, or the part has no other one.
/// Else it may be an input that is tied to the supply. One that makes the supply takes none.
fn is_certain(scope: &Scope<'_>, index: usize, pin: &Pad) -> bool {
    let pads = || scope.pads_of_part(index);
    let has_several = || pads().any(|pad| pad.net == pin.net && pad.number != pin.number);
    let has_other =
        || pads().any(|pad| pad.net != pin.net && scope.net(pad.net).kind == NetKind::Power);
    match pin.pin {
        Pin::PowerIn => true,
        Pin::PowerOut => false,
        Pin::Unknown | Pin::Signal => has_several() || !has_other(),
    }
}

/// The nearest pad of a capacitor of the pin's supply.
fn nearest<'s>(scope: &'s Scope<'_>, pin: &Pad) -> Option<(f64, &'s Pad)> {
    let near = scope.rail(pin.net).into_iter().flat_map(|net| {
        let reach = SEARCH_MM + pin.reach();
        let layers = scope.board.all_layers();
        scope.contacts.pads_near(net, layers, pin.at, reach)
    });
    let capacitors = near.filter(|pad| {
        scope.part(pad.footprint).is_capacitor() && scope.joins_ground(pad.footprint)
    });
    let measured = capacitors.map(|pad| (pin.gap(pad), pad));
    measured
        .filter(|(gap, _)| *gap <= SEARCH_MM)
        .min_by(|x, y| x.0.total_cmp(&y.0))
}

/// The inductance of the way from a pin to its capacitor in nH, if there is a plane.
fn loop_nh(scope: &Scope<'_>, index: usize, pad: &Pad, distance: f64) -> Option<f64> {
    let height = scope.planes.references(scope.mount(index)).first()?.height;
    let width = pad.bounds.width().min(pad.bounds.height());
    (0.0 < width).then(|| MU_0_NH_MM * height * distance / width)
}

fn ground_pad(scope: &Scope<'_>, index: usize) -> Option<Draft> {
    let part = scope.part(index);
    let is_decoupling = part.is_capacitor()
        && part
            .nets
            .iter()
            .any(|net| scope.net(*net).kind == NetKind::Power);
    let mut grounds = scope
        .pads_of_part(index)
        .filter(|pad| is_decoupling && scope.is_ground(pad.net));
    let ground = grounds.next()?;
    // Without a plane to go to, a via does not help.
    let has_planes = (0..scope.board.layers.len()).any(|layer| 0.0 < scope.planes.area(layer));
    let limit = scope.param_of("max_ground_via_mm", ground.net);
    let is_joined = |pad: &Pad| scope.to_joint(pad, limit).is_some();
    if !has_planes || is_joined(ground) || grounds.any(is_joined) {
        return None;
    }
    let detail = format!(
        "the ground pad of {} is neither in a fill of {} nor within {limit:.1} mm of a via of it",
        part.reference,
        scope.net(ground.net).name
    );
    let draft = Draft::new(
        Severity::Warning,
        ground.at,
        "A capacitor has no via to ground",
        detail,
    )
    .net(ground.net);
    Some(draft.layer(scope.mount(index)).footprint(index))
}
