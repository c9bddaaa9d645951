//! Reset lines without a capacitor.

use super::{Param, Rule, Scope};
use crate::board::{NetId, NetKind};
use crate::finding::{Draft, Severity};
use crate::found::Found;
use crate::observer::Cancelled;
use crate::words;

pub(super) static RULE: Rule = Rule {
    id: "reset-filter",
    title: "A reset line has no capacitor at its pin",
    about: "A reset input that only a pull-up holds takes a fast transient on its trace for a reset.",
    formula: "Nets called RESET, RST, NRST and so on, with a pin of a circuit and a resistor to a supply: distance from the pin to a \
              capacitor to ground.",
    source: "distance as published by the EmbeddedCI analyzer",
    severity: "warning",
    validity: "nets that are named so",
    params: &[Param {
        key: "max_distance_mm",
        default: 10.0,
        about: "farther capacitors do not help",
    }],
    assumes: &[],
    check,
};

fn check(scope: &Scope<'_>) -> Result<Found, Cancelled> {
    const NAMES: &[&str] = &[
        "RESET", "RST", "NRST", "RESETN", "NRESET", "RSTN", "MCLR", "RSTB", "RESETB", "XRES",
        "POR", "RUN",
    ];
    let is_reset = |net: &NetId| {
        let words = words::of_net(&scope.net(*net).name);
        scope.is_signal(*net) && words.iter().any(|word| NAMES.contains(&word.as_str()))
    };
    let nets: Vec<NetId> = (0..scope.board.nets.len()).filter(is_reset).collect();
    scope.each(&nets, |net| open_reset(scope, *net).into_iter().collect())
}

fn open_reset(scope: &Scope<'_>, net: NetId) -> Option<Draft> {
    let limit = scope.param_of("max_distance_mm", net);
    let is_pull_up = |part: usize| {
        let part = scope.part(part);
        part.prefix() == "R"
            && part.is_fitted()
            && part
                .nets
                .iter()
                .any(|other| scope.net(*other).kind == NetKind::Power)
    };
    let pin = scope
        .pads_of(net)
        .find(|pad| scope.part(pad.footprint).is_circuit())?;
    if !scope.pads_of(net).any(|pad| is_pull_up(pad.footprint)) {
        return None;
    }
    let distance = scope
        .capacitor_pads(net)
        .map(|pad| pin.gap(pad))
        .min_by(f64::total_cmp);
    if distance.is_some_and(|distance| distance <= limit) {
        return None;
    }
    let reference = &scope.part(pin.footprint).reference;
    let detail = match distance {
        Some(distance) => format!("the capacitor is {distance:.1} mm from {reference}"),
        None => format!("only a pull-up holds it at {reference}"),
    };
    let draft = Draft::new(Severity::Warning, pin.at, RULE.title, detail)
        .net(net)
        .footprint(pin.footprint);
    Some(match distance {
        Some(distance) => draft.measure(distance, limit, "mm"),
        None => draft,
    })
}
