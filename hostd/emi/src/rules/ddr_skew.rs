//! Nets that have to be equally long.

use super::{Assumption, Param, Rule, Scope};
use crate::board::NetId;
use crate::finding::{Draft, Severity};
use crate::found::Found;
use crate::kinds::pairs;
use crate::observer::Cancelled;

pub(super) static RULE: Rule = Rule {
    id: "ddr-skew",
    title: "Nets that belong together are not equally long",
    about: "What arrives at different times is no pair any more, and what arrives too late is not read. In time, not in millimetres: a \
            wave is slower inside a board than on it.",
    formula: "Delay of a net: Σ length·√εeff/c of its tracks, and of its vias from the uppermost to the lowest layer that is used. \
              Pairs: difference. Groups: difference to the middle one.",
    source: "εeff on outer layers: Hammerstad 1975; budgets as published by the EmbeddedCI analyzer",
    severity: "warning",
    validity: "pairs by name whose nets have equally many pads; groups that the rules file gives byte_lane_ps or address_command_ps. \
               Branches are added, delays in packages are not known",
    params: &[
        Param {
            key: "intra_pair_ps",
            default: 2.0,
            about: "difference within a pair",
        },
        Param {
            key: "byte_lane_ps",
            default: 0.0,
            about: "difference within a group that sets it",
        },
        Param {
            key: "address_command_ps",
            default: 0.0,
            about: "difference within a group that sets it",
        },
        Param {
            key: "min_group_size",
            default: 3.0,
            about: "smaller groups are none",
        },
    ],
    assumes: &[Assumption::Stackup],
    check,
};

fn check(scope: &Scope<'_>) -> Result<Found, Cancelled> {
    let delays = delays(scope)?;
    let mut found = scope.each(&pairs(scope.board), |pair| {
        pair_skew(scope, &delays, *pair).into_iter().collect()
    })?;
    for key in ["byte_lane_ps", "address_command_ps"] {
        for (nets, budget) in scope.settings.groups_with(key, &scope.board.nets) {
            found = found.with(scope.found(group_skew(scope, &delays, &nets, budget)));
        }
    }
    Ok(found)
}

/// The delay of every net, in ps.
fn delays(scope: &Scope<'_>) -> Result<Vec<f64>, Cancelled> {
    const PS_MM: f64 = 1e12 / super::context::LIGHT_MM_S;
    let mut delays = vec![0.0; scope.board.nets.len()];
    for run in &scope.runs {
        for (line, width) in run.lines.iter().zip(&run.widths) {
            delays[run.net] +=
                PS_MM * line.length() * scope.effective_epsilon(run.layer, *width).sqrt();
        }
    }
    scope.go_on()?;
    let is_pair = |net: NetId| scope.is_signal(net);
    for via in scope.board.vias.iter().filter(|via| is_pair(via.net)) {
        let used = scope.contacts.layers_used(via);
        if let (Some(top), Some(bottom)) = (used.top(), used.bottom()) {
            let epsilon = scope.board.stackup.epsilon_between(top, bottom);
            delays[via.net] += PS_MM * scope.board.stackup.distance(top, bottom) * epsilon.sqrt();
        }
    }
    Ok(delays)
}

fn pair_skew(
    scope: &Scope<'_>,
    delays: &[f64],
    (positive, negative): (NetId, NetId),
) -> Option<Draft> {
    let is_routed = |net: NetId| delays[net] > 0.0;
    let is_alike = scope.pads[positive].len() == scope.pads[negative].len();
    if !is_alike || !is_routed(positive) || !is_routed(negative) {
        return None;
    }
    let budget = scope.param_of("intra_pair_ps", positive);
    let skew = (delays[positive] - delays[negative]).abs();
    if skew <= budget {
        return None;
    }
    let (later, other) = if delays[positive] > delays[negative] {
        (positive, negative)
    } else {
        (negative, positive)
    };
    let detail = format!(
        "{} takes {:.1} ps, {} {:.1} ps",
        scope.net(positive).name,
        delays[positive],
        scope.net(negative).name,
        delays[negative]
    );
    let at = scope
        .runs
        .iter()
        .find(|run| run.net == other)
        .or_else(|| scope.runs.first())?;
    let draft = Draft::new(
        Severity::Warning,
        at.at(at.length() / 2.0),
        "A pair is not equally long",
        detail,
    );
    Some(draft.net(later).layer(at.layer).measure(skew, budget, "ps"))
}

fn group_skew(scope: &Scope<'_>, delays: &[f64], nets: &[NetId], budget: f64) -> Vec<Draft> {
    let routed: Vec<NetId> = nets
        .iter()
        .copied()
        .filter(|net| delays[*net] > 0.0)
        .collect();
    let mut sorted: Vec<f64> = routed.iter().map(|net| delays[*net]).collect();
    sorted.sort_by(f64::total_cmp);
    let is_small = (sorted.len() as f64) < scope.param("min_group_size");
    let Some(middle) = sorted
        .get(sorted.len() / 2)
        .copied()
        .filter(|_| !is_small && budget > 0.0)
    else {
        return Vec::new();
    };
    let apart = routed
        .into_iter()
        .filter(|net| (delays[*net] - middle).abs() > budget);
    let found = apart.filter_map(|net| {
        let run = scope.runs.iter().find(|run| run.net == net)?;
        let detail = format!(
            "{:.1} ps; the middle one of its {} takes {middle:.1} ps",
            delays[net],
            sorted.len()
        );
        let at = run.at(run.length() / 2.0);
        let draft = Draft::new(Severity::Warning, at, RULE.title, detail)
            .net(net)
            .layer(run.layer);
        Some(draft.measure((delays[net] - middle).abs(), budget, "ps"))
    });
    found.collect()
}
