//! Lines that leave the board, and what clamps them.

use super::{Param, Rule, Scope};
use crate::board::{NetId, Pad};
use crate::finding::{Draft, Severity};
use crate::found::Found;
use crate::observer::Cancelled;

pub(super) static RULE: Rule = Rule {
    id: "esd-protection",
    title: "A line to a connector has no clamp",
    about: "A discharge into a connector has to find ground before it finds a circuit.",
    formula: "Signals with a pad of a connector and one of another part: distance from the connector's pad to the nearest pad of a \
              clamp; of the clamp, whether its ground pad is plated, in a fill, or near a via.",
    source: "distances as published by the EmbeddedCI analyzer",
    severity: "warning",
    validity: "connectors within edge_mm of the outline. Clamps: known parts, and diodes D… to a ground; one that is not recognised is \
               said to be missing",
    params: &[
        Param {
            key: "edge_mm",
            default: 5.0,
            about: "connectors farther inside are not for cables; 0 for all",
        },
        Param {
            key: "max_distance_mm",
            default: 15.0,
            about: "farther clamps come too late",
        },
        Param {
            key: "max_ground_via_mm",
            default: 2.0,
            about: "of a clamp's ground pad to a via",
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
        let lines = scope
            .part(*part)
            .nets
            .iter()
            .filter(|net| scope.is_signal(**net) && leads_on(scope, *part, **net));
        lines
            .filter_map(|net| unclamped(scope, *part, *net))
            .collect()
    })
}

/// Whether a net has another part than the connector.
fn leads_on(scope: &Scope<'_>, part: usize, net: NetId) -> bool {
    scope.pads_of(net).any(|pad| pad.footprint != part)
}

fn unclamped(scope: &Scope<'_>, part: usize, net: NetId) -> Option<Draft> {
    let limit = scope.param_of("max_distance_mm", net);
    let pin = scope.pads_of_part(part).find(|pad| pad.net == net)?;
    let clamps = scope.pads_of(net).filter(|pad| {
        let other = scope.part(pad.footprint);
        other.is_clamp()
            || other.prefix() == "D" && other.is_fitted() && scope.joins_ground(pad.footprint)
    });
    let nearest = clamps
        .map(|pad| (pin.gap(pad), pad))
        .min_by(|x, y| x.0.total_cmp(&y.0));
    let name = &scope.net(net).name;
    let draft = |title: &str, detail: String| {
        let draft = Draft::new(Severity::Warning, pin.at, title, detail).net(net);
        draft.layer(scope.mount(part)).footprint(part)
    };
    match nearest {
        None => Some(draft(
            RULE.title,
            format!("{name} of {} has none", scope.part(part).reference),
        )),
        Some((distance, clamp)) if limit < distance => {
            let detail = format!(
                "{} is {distance:.1} mm from the connector",
                scope.part(clamp.footprint).reference
            );
            Some(draft("A clamp is far from its connector", detail).measure(distance, limit, "mm"))
        }
        Some((_, clamp)) => {
            let within = scope.param_of("max_ground_via_mm", net);
            let grounds = scope
                .pads_of_part(clamp.footprint)
                .filter(|pad| scope.is_ground(pad.net));
            let grounds: Vec<&Pad> = grounds.collect();
            let is_far = !grounds.is_empty()
                && grounds
                    .iter()
                    .all(|pad| scope.to_joint(pad, within).is_none());
            let reference = &scope.part(clamp.footprint).reference;
            let detail = format!(
                "no ground pad of {reference} is in a fill or within {within:.1} mm of a via"
            );
            is_far.then(|| draft("A clamp has no short way to ground", detail))
        }
    }
}
