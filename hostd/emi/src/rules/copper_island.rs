//! Copper that is connected to nothing.

use super::{Param, Rule, Scope};
use crate::board::NetKind;
use crate::finding::{Draft, Severity};
use crate::found::Found;
use crate::observer::Cancelled;

pub(super) static RULE: Rule = Rule {
    id: "copper-island",
    title: "A piece of a pour is connected to nothing",
    about: "Floating copper picks up fields and radiates them again, and couples its neighbours.",
    formula: "A fill of more than min_area_mm2 that no via, pad, track or other fill of its net touches, or that has no net.",
    source: "connectivity",
    severity: "warning",
    validity: "filled zones",
    params: &[Param {
        key: "min_area_mm2",
        default: 2.0,
        about: "smaller pieces do not matter",
    }],
    assumes: &[],
    check,
};

fn check(scope: &Scope<'_>) -> Result<Found, Cancelled> {
    let fills: Vec<usize> = (0..scope.board.fills.len()).collect();
    scope.each(&fills, |index| {
        let fill = &scope.board.fills[*index];
        let limit = scope.param_of("min_area_mm2", fill.net);
        let has_net = scope.net(fill.net).kind != NetKind::None;
        if fill.area <= limit || has_net && scope.contacts.is_connected(*index) {
            return Vec::new();
        }
        let what = if has_net {
            "nothing of its net touches it"
        } else {
            "it has no net"
        };
        let detail = format!(
            "{:.1} mm² on {}: {what}",
            fill.area,
            scope.layer_name(fill.layer)
        );
        // A point of the copper itself: the middle of the box may be outside.
        let at = fill.shape.points.first().copied().unwrap_or_default();
        let draft = Draft::new(Severity::Warning, at, RULE.title, detail)
            .layer(fill.layer)
            .bounds(fill.bounds);
        let draft = draft.measure(fill.area, limit, "mm²");
        vec![if has_net { draft.net(fill.net) } else { draft }]
    })
}
