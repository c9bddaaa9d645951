//! Nets that have to be equally long.

use super::delay::PS_MM;
use super::pair_skew::skewed;
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
    formula: "Delay: Σ length·√εeff/c of tracks and vias. Pairs: difference of the shortest ways between the two parts on both nets \
              that are farthest apart, from the nearest pads of each, so that branches, test points and the second row of a USB-C \
              connector do not count. Groups: difference of a net's delay, branches included, to the middle one.",
    source: "εeff on outer layers: Hammerstad 1975; budgets as published by the EmbeddedCI analyzer",
    severity: "warning",
    validity: "pairs by name: +/-, P/N, DP/DM, DP/DN, CAN H/L, with digits behind; in net classes for pairs, also names that differ \
               in such a letter anywhere, and the two nets of a class. A class is for pairs if it is called so (diff, pair, 90 ohm) or \
               has a pair width and gap of its own. Groups that the rules file gives byte_lane_ps or address_command_ps. Delays in packages are not known; nothing is said of pairs of CAN, RS-485, audio and measured \
               voltages",
    params: &[
        Param {
            key: "intra_pair_ps",
            default: 0.0,
            about: "difference within a pair; 0: 2 for PCIe, SATA, USB 3, HDMI, DisplayPort, MIPI, SGMII and DDR, 10 for others",
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
    let mut found = scope.each(&pairs(scope.board), |pair| {
        skewed(scope, *pair).into_iter().collect()
    })?;
    let delays = delays(scope)?;
    for key in ["byte_lane_ps", "address_command_ps"] {
        for (nets, budget) in scope.settings.groups_with(key, &scope.board.nets) {
            found = found.with(scope.found(group_skew(scope, &delays, &nets, budget)));
        }
    }
    Ok(found)
}

/// The delay of every net, in ps.
fn delays(scope: &Scope<'_>) -> Result<Vec<f64>, Cancelled> {
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
