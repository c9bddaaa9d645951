//! Nodes of switching regulators.

use super::{Param, Rule, Scope};
use crate::board::{NetId, NetKind, Pin};
use crate::finding::{Draft, Severity};
use crate::found::Found;
use crate::observer::Cancelled;
use crate::words;

pub(super) static RULE: Rule = Rule {
    id: "switch-node",
    title: "A switch node is larger than it has to be",
    about: "The node between switch and inductor swings by the whole input voltage in nanoseconds. Its copper couples that into \
            everything nearby.",
    formula: "Area of the net's fills, tracks and pads; length of its tracks.",
    source: "sizes as published by the EmbeddedCI analyzer",
    severity: "warning",
    validity: "signals with a pad of an inductor L… and one of a circuit or transistor, if the inductor's other net is a supply or the \
               name says SW, LX or PHASE. A net with a capacitor to ground or a pin that takes a supply is a filter, unless it is \
               named so",
    params: &[
        Param {
            key: "max_area_mm2",
            default: 30.0,
            about: "more copper is too much",
        },
        Param {
            key: "max_length_mm",
            default: 15.0,
            about: "longer tracks are too long",
        },
    ],
    assumes: &[],
    check,
};

fn check(scope: &Scope<'_>) -> Result<Found, Cancelled> {
    let nets: Vec<NetId> = (0..scope.board.nets.len())
        .filter(|net| scope.is_signal(*net))
        .collect();
    let mut fills = vec![0.0; scope.board.nets.len()];
    for fill in &scope.board.fills {
        fills[fill.net] += fill.area;
    }
    let mut tracks = vec![(0.0, 0.0); scope.board.nets.len()];
    for track in &scope.board.tracks {
        let length = track.line.length();
        tracks[track.net].0 += length;
        tracks[track.net].1 += length * track.width;
    }
    scope.each(&nets, |net| {
        if !is_switch_node(scope, *net) {
            return Vec::new();
        }
        let (length, of_tracks) = tracks[*net];
        let area = fills[*net]
            + of_tracks
            + scope
                .pads_of(*net)
                .map(crate::board::Pad::area)
                .sum::<f64>();
        let at = scope
            .pads_of(*net)
            .next()
            .map(|pad| pad.at)
            .unwrap_or_default();
        let (area_max, length_max) = (
            scope.param_of("max_area_mm2", *net),
            scope.param_of("max_length_mm", *net),
        );
        let too_large = (area_max < area).then(|| {
            let detail = format!("{area:.0} mm² of copper");
            Draft::new(Severity::Warning, at, RULE.title, detail)
                .net(*net)
                .measure(area, area_max, "mm²")
        });
        let too_long = (length_max < length).then(|| {
            let detail = format!("{length:.1} mm of tracks");
            Draft::new(Severity::Warning, at, "A switch node is long", detail)
                .net(*net)
                .measure(length, length_max, "mm")
        });
        too_large.into_iter().chain(too_long).collect()
    })
}

fn is_switch_node(scope: &Scope<'_>, net: NetId) -> bool {
    const NAMES: &[&str] = &[
        "SW", "LX", "PHASE", "VSW", "SWNODE", "SW1", "SW2", "LX1", "LX2",
    ];
    let parts = |is: &dyn Fn(usize) -> bool| scope.pads_of(net).any(|pad| is(pad.footprint));
    if !parts(&|part| scope.part(part).is_switch()) {
        return false;
    }
    let has_name = words::of_net(&scope.net(net).name)
        .iter()
        .any(|word| NAMES.contains(&word.as_str()));
    // Nothing switches a capacitor to ground, but for a small one that damps.
    let is_filter = scope.capacitor_pads(net).next().is_some()
        || scope.pads_of(net).any(|pad| pad.pin == Pin::PowerIn);
    if is_filter && !has_name {
        return false;
    }
    let feeds = |part: usize| {
        let mut others = scope.part(part).nets.iter().filter(|other| **other != net);
        others.any(|other| has_name || scope.net(*other).kind == NetKind::Power)
    };
    parts(&|part| scope.part(part).is_inductor() && feeds(part))
}
