//! The difference in time between the nets of a pair, from one end of both to the other.

use std::collections::BTreeMap;

use super::Scope;
use super::delay::Delays;
use crate::board::NetId;
use crate::finding::{Draft, Severity};
use crate::kinds::interface;
use crate::words::Interface;

/// Budgets in ps: of gigabits on one pair, and of everything else whose lengths matter.
pub(super) const SERIAL_PS: f64 = 2.0;
pub(super) const OTHER_PS: f64 = 10.0;

/// Most parts that have pads on both nets: a pair has two, and some that clamp or filter it.
const PARTS_MAX: usize = 16;

/// How much a pair may differ, in ps; `None` if it does not matter.
fn budget(scope: &Scope<'_>, net: NetId) -> Option<f64> {
    let declared = scope.param_of("intra_pair_ps", net);
    if 0.0 < declared {
        return Some(declared);
    }
    match interface(scope.net(net)) {
        Interface::Serial => Some(SERIAL_PS),
        Interface::Fast | Interface::Unknown => Some(OTHER_PS),
        Interface::Slow => None,
    }
}

/// What is wrong with a pair.
pub(super) fn skewed(scope: &Scope<'_>, (positive, negative): (NetId, NetId)) -> Option<Draft> {
    let budget = budget(scope, positive)?;
    let nets = [positive, negative];
    if nets.iter().any(|net| scope.runs_of(*net).is_empty()) {
        return None;
    }
    let (x, y) = (Delays::of(scope, positive)?, Delays::of(scope, negative)?);
    let (first, second) = ends(scope, &x, &y)?;
    let skew = (first - second).abs();
    if skew <= budget {
        return None;
    }
    let (later, other) = if second < first {
        (positive, negative)
    } else {
        (negative, positive)
    };
    let detail = format!(
        "{} takes {first:.1} ps, {} {second:.1} ps from one end to the other",
        scope.net(positive).name,
        scope.net(negative).name,
    );
    let at = scope.runs_of(other).first()?;
    let middle = at.at(at.length() / 2.0);
    let draft = Draft::new(
        Severity::Warning,
        middle,
        "A pair is not equally long",
        detail,
    );
    Some(draft.net(later).layer(at.layer).measure(skew, budget, "ps"))
}

/// The delays of both nets from one end to the other: between the two parts on both nets that are farthest apart. Where there are
/// none, from the one part to the farthest pad, or the longest way.
fn ends(scope: &Scope<'_>, x: &Delays, y: &Delays) -> Option<(f64, f64)> {
    let (first, second) = (by_part(scope, x), by_part(scope, y));
    let shared: Vec<usize> = first
        .keys()
        .copied()
        .filter(|part| second.contains_key(part))
        .take(PARTS_MAX)
        .collect();
    let least = |delays: &[f64], places: &[usize]| {
        let reached = places.iter().map(|place| delays[*place]);
        reached.fold(f64::INFINITY, f64::min)
    };
    let mut farthest: Option<(f64, f64)> = None;
    for (index, part) in shared.iter().enumerate() {
        let (of_x, of_y) = (
            x.from(first[part].iter().copied()),
            y.from(second[part].iter().copied()),
        );
        for other in &shared[index + 1..] {
            let both = (least(&of_x, &first[other]), least(&of_y, &second[other]));
            let is_farther = |known: &(f64, f64)| known.0 + known.1 < both.0 + both.1;
            if (both.0 + both.1).is_finite() && farthest.as_ref().is_none_or(is_farther) {
                farthest = Some(both);
            }
        }
    }
    if farthest.is_some() {
        return farthest;
    }
    // In each net, something of its own is at the other end: resistors, capacitors, beads.
    if let [part] = shared[..] {
        let beyond = |delays: &Delays, parts: &BTreeMap<usize, Vec<usize>>| {
            let from = delays.from(parts[&part].iter().copied());
            let others = parts.iter().filter(|(other, _)| **other != part);
            let reached = others.map(|(_, places)| least(&from, places));
            reached.filter(|ps| ps.is_finite()).max_by(f64::total_cmp)
        };
        return beyond(x, &first).zip(beyond(y, &second));
    }
    let whole = |delays: &Delays, parts: &BTreeMap<usize, Vec<usize>>| {
        let pads: Vec<usize> = parts.values().flatten().copied().collect();
        if 1 < parts.len() {
            delays.longest(&pads)
        } else {
            delays.longest(&delays.places())
        }
    };
    whole(x, &first).zip(whole(y, &second))
}

/// The places of a net's pads by part, without test points and parts that are left out.
fn by_part(scope: &Scope<'_>, delays: &Delays) -> BTreeMap<usize, Vec<usize>> {
    let mut parts: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (pad, place) in &delays.pads {
        let part = scope.board.pads[*pad].footprint;
        if !scope.part(part).is_test_point() && scope.part(part).is_fitted() {
            parts.entry(part).or_default().push(*place);
        }
    }
    parts
}
