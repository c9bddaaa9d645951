//! Crystals, and what is too near to them.

use super::{Param, Rule, Scope};
use crate::board::LayerId;
use crate::finding::{Draft, Severity};
use crate::found::Found;
use crate::geometry::Segment;
use crate::observer::Cancelled;

pub(super) static RULE: Rule = Rule {
    id: "crystal",
    title: "Something is too near to a crystal",
    about: "A crystal swings all the time. At the edge of the board or beside a connector, a cable becomes its antenna; a signal under \
            it disturbs it and carries it away.",
    formula: "Distance of its pads to the outline and to pads of connectors, copper to copper; foreign signals within the box and \
              keepout_margin_mm on its own layer, and on the next one if that is no plane there.",
    source: "distances as published by the EmbeddedCI analyzer",
    severity: "warning",
    validity: "parts Y…, and others that say so in value or footprint: XTAL…, CRYSTAL…, OSCILLATOR…, a frequency",
    params: &[
        Param {
            key: "min_edge_mm",
            default: 5.0,
            about: "to the outline",
        },
        Param {
            key: "min_connector_mm",
            default: 10.0,
            about: "to pads of connectors",
        },
        Param {
            key: "keepout_margin_mm",
            default: 0.5,
            about: "around the pads",
        },
    ],
    assumes: &[],
    check,
};

fn check(scope: &Scope<'_>) -> Result<Found, Cancelled> {
    let connectors: Vec<usize> = scope
        .parts()
        .into_iter()
        .filter(|part| scope.part(*part).is_connector())
        .collect();
    scope.each(&scope.parts(), |part| {
        if !scope.part(*part).is_crystal() || scope.part(*part).bounds.is_empty() {
            return Vec::new();
        }
        let near = [edge(scope, *part), connector(scope, *part, &connectors)];
        near.into_iter()
            .flatten()
            .chain(under(scope, *part))
            .collect()
    })
}

fn edge(scope: &Scope<'_>, part: usize) -> Option<Draft> {
    let limit = scope.param("min_edge_mm");
    let pads = scope.pads_of_part(part);
    let distances = pads.filter_map(|pad| scope.edge_gap(pad, limit));
    let distance = distances
        .min_by(f64::total_cmp)
        .filter(|distance| *distance < limit)?;
    let detail = format!("{distance:.1} mm from the edge of the board");
    let draft = Draft::new(
        Severity::Warning,
        scope.part(part).bounds.center(),
        "A crystal is near the edge",
        detail,
    );
    Some(
        draft
            .layer(scope.mount(part))
            .footprint(part)
            .measure(distance, limit, "mm"),
    )
}

fn connector(scope: &Scope<'_>, part: usize, connectors: &[usize]) -> Option<Draft> {
    let limit = scope.param("min_connector_mm");
    let around = scope.part(part).bounds.grown(limit);
    let near = connectors
        .iter()
        .filter(|other| scope.part(**other).bounds.meets(&around));
    let measured = near.filter_map(|other| {
        let pads = scope
            .pads_of_part(*other)
            .filter(|pad| pad.bounds.meets(&around));
        let gaps = pads.flat_map(|pad| scope.pads_of_part(part).map(|own| own.gap(pad)));
        Some((gaps.min_by(f64::total_cmp)?, *other))
    });
    let (distance, other) = measured
        .min_by(|x, y| x.0.total_cmp(&y.0))
        .filter(|(distance, _)| *distance < limit)?;
    let detail = format!(
        "{distance:.1} mm from the connector {}",
        scope.part(other).reference
    );
    let draft = Draft::new(
        Severity::Warning,
        scope.part(part).bounds.center(),
        "A crystal is near a connector",
        detail,
    );
    Some(
        draft
            .layer(scope.mount(part))
            .footprint(part)
            .measure(distance, limit, "mm"),
    )
}

/// Foreign signals under a crystal, each net once.
fn under(scope: &Scope<'_>, part: usize) -> Vec<Draft> {
    let own = scope.part(part);
    let area = own.bounds.grown(scope.param("keepout_margin_mm"));
    let way = Segment::new(area.min, area.max);
    let mount = scope.mount(part);
    let next = if mount == 0 { 1 } else { mount - 1 };
    let is_bare = next < scope.board.layers.len()
        && scope.planes.on(next, own.bounds.center()).next().is_none();
    let layers: Vec<LayerId> = if is_bare && next != mount {
        vec![mount, next]
    } else {
        vec![mount]
    };
    let mut found: Vec<Draft> = Vec::new();
    for layer in layers {
        let reach = area.width().min(area.height());
        for track in scope.contacts.tracks_along(layer, &way, reach) {
            let track = &scope.board.tracks[track];
            let is_foreign = scope.is_signal(track.net) && !own.nets.contains(&track.net);
            let is_known = found.iter().any(|draft| draft.net == Some(track.net));
            let inside = clipped(&track.line, &area);
            if let (true, false, Some(at)) = (is_foreign, is_known, inside) {
                let detail = format!(
                    "{} runs under {} on {}",
                    scope.net(track.net).name,
                    own.reference,
                    scope.layer_name(layer)
                );
                let draft = Draft::new(
                    Severity::Warning,
                    at,
                    "A signal runs under a crystal",
                    detail,
                );
                found.push(draft.net(track.net).layer(layer).footprint(part));
            }
        }
    }
    found
}

/// The middle of the part of a line that is in a box.
fn clipped(line: &Segment, area: &crate::geometry::Bounds) -> Option<crate::geometry::Point> {
    let (mut from, mut to) = (0.0_f64, 1.0_f64);
    let step = line.b - line.a;
    for (start, step, low, high) in [
        (line.a.x, step.x, area.min.x, area.max.x),
        (line.a.y, step.y, area.min.y, area.max.y),
    ] {
        if step == 0.0 {
            if start < low || high < start {
                return None;
            }
            continue;
        }
        let (x, y) = ((low - start) / step, (high - start) / step);
        (from, to) = (from.max(x.min(y)), to.min(x.max(y)));
    }
    (from <= to).then(|| line.at(from.midpoint(to)))
}
