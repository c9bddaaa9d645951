//! Traces beside each other.

use std::collections::BTreeMap;

use super::{Assumption, Param, Rule, Scope};
use crate::board::{LayerId, NetId, Speed, Track};
use crate::copper::TrackRun;
use crate::finding::{Draft, Severity};
use crate::found::Found;
use crate::geometry::{Point, Segment};
use crate::kinds::pairs;
use crate::observer::Cancelled;

pub(super) static RULE: Rule = Rule {
    id: "crosstalk",
    title: "Two traces run beside each other for too long",
    about: "What one trace does, the other feels: the nearer and the higher above the plane, the more.",
    formula: "Backward crosstalk, at most 1/(1 + (s/h)²) of the edge, s between the middles, h above the plane; weighed by \
              length/(t_r·v/2) up to 1. Summed over all stretches of two nets on a layer that run within 10° of parallel.",
    source: "Johnson & Graham 1993",
    severity: "warning if one of the nets is fast, otherwise info",
    validity: "signals on layers beside a plane, no nets of one pair; copper between both is not seen, so it is an upper bound",
    params: &[Param {
        key: "max_pct",
        default: 5.0,
        about: "of the edge",
    }],
    assumes: &[Assumption::Frequency, Assumption::Stackup],
    check,
};

/// Largest sine between two traces that run beside each other: 10°.
const SINE_MAX: f64 = 0.174;

/// How far it is looked for neighbours at most, in mm.
const REACH_MM_MAX: f64 = 8.0;

/// What one net has of another on a layer.
#[derive(Default)]
struct Coupling {
    /// Σ part·length/saturation.
    sum: f64,
    part_max: f64,
    length: f64,
    nearest: f64,
    at: Point,
}

fn check(scope: &Scope<'_>) -> Result<Found, Cancelled> {
    let mut mate: Vec<Option<NetId>> = vec![None; scope.board.nets.len()];
    for (positive, negative) in pairs(scope.board) {
        (mate[positive], mate[negative]) = (Some(negative), Some(positive));
    }
    let runs = scope
        .runs
        .chunk_by(|x, y| (x.net, x.layer) == (y.net, y.layer));
    let signals: Vec<&[TrackRun]> = runs.filter(|runs| scope.is_signal(runs[0].net)).collect();
    scope.each_into(&signals, |runs, add| {
        neighbours(scope, runs, mate[runs[0].net], add)
    })
}

fn neighbours(
    scope: &Scope<'_>,
    runs: &[TrackRun],
    mate: Option<NetId>,
    add: &mut dyn FnMut(Draft),
) {
    let (net, layer) = (runs[0].net, runs[0].layer);
    let Some(height) = scope.planes.references(layer).first().map(|r| r.height) else {
        return;
    };
    let limit = scope.param_of("max_pct", net) / 100.0;
    // Beyond, even the longest stretch stays below the limit.
    let reach = (height * (1.0 / limit.clamp(1e-3, 0.99) - 1.0).sqrt()).min(REACH_MM_MAX);
    let mut others: BTreeMap<NetId, Coupling> = BTreeMap::new();
    for (line, width) in runs
        .iter()
        .flat_map(|run| run.lines.iter().zip(&run.widths))
    {
        if scope.is_stopped() {
            return;
        }
        let speed = super::context::LIGHT_MM_S / scope.effective_epsilon(layer, *width).sqrt();
        // Each pair of nets is looked at from the one that is first.
        let is_other = |track: &Track| {
            let is_later = net < track.net && Some(track.net) != mate;
            is_later && are_parallel(line, &track.line) && scope.is_signal(track.net)
        };
        let contacts = &scope.contacts;
        for track in contacts.tracks_along_that(layer, line, reach, is_other) {
            let track = &scope.board.tracks[track];
            let Some((length, distance, at)) = beside(line, &track.line, reach) else {
                continue;
            };
            let rise = scope
                .settings
                .rise_s(scope.net(net))
                .min(scope.settings.rise_s(scope.net(track.net)));
            let part = 1.0 / (1.0 + (distance / height).powi(2));
            let coupling = others.entry(track.net).or_insert(Coupling {
                nearest: f64::INFINITY,
                ..Coupling::default()
            });
            coupling.sum += part * length / (rise * speed / 2.0);
            coupling.part_max = coupling.part_max.max(part);
            coupling.length += length;
            if distance < coupling.nearest {
                (coupling.nearest, coupling.at) = (distance, at);
            }
        }
    }
    let coupled = others.into_iter();
    coupled
        .filter_map(|(other, coupling)| too_much(scope, net, other, layer, &coupling, limit))
        .for_each(add);
}

fn too_much(
    scope: &Scope<'_>,
    net: NetId,
    other: NetId,
    layer: LayerId,
    coupling: &Coupling,
    limit: f64,
) -> Option<Draft> {
    let value = coupling.sum.min(coupling.part_max);
    if value <= limit {
        return None;
    }
    let is = |speed: Speed| {
        [net, other]
            .iter()
            .any(|net| scope.net(*net).speed == speed)
    };
    let severity = if is(Speed::Fast) {
        Severity::Warning
    } else {
        Severity::Info
    };
    let detail = format!(
        "{} and {} run beside each other for {:.1} mm on {}, {:.2} mm apart: at most {:.0} % of an edge",
        scope.net(net).name,
        scope.net(other).name,
        coupling.length,
        scope.layer_name(layer),
        coupling.nearest,
        100.0 * value
    );
    let draft = Draft::new(severity, coupling.at, RULE.title, detail)
        .net(net)
        .layer(layer);
    Some(draft.measure(100.0 * value, 100.0 * limit, "%"))
}

/// Whether two lines run within 10° of each other. Quick to tell.
fn are_parallel(line: &Segment, other: &Segment) -> bool {
    let (along, way) = (line.b - line.a, other.b - other.a);
    let (cross, dot) = (along.cross(way), along.dot(way));
    // The tangent, with a little room: `beside` decides.
    cross.abs() <= 1.1 * SINE_MAX * dot.abs()
}

/// How long two lines run beside each other, how far apart, and where, if they are parallel and near.
fn beside(line: &Segment, other: &Segment, reach: f64) -> Option<(f64, f64, Point)> {
    let (length, of_other) = (line.length(), other.length());
    if length <= 0.0 || of_other <= 0.0 {
        return None;
    }
    let along = (line.b - line.a) * (1.0 / length);
    let sine = along.cross(other.b - other.a) / of_other;
    if SINE_MAX < sine.abs() {
        return None;
    }
    let (x, y) = ((other.a - line.a).dot(along), (other.b - line.a).dot(along));
    let (from, to) = (x.min(y).max(0.0), x.max(y).min(length));
    let at = line.a + along * from.midpoint(to);
    let distance = other.distance(at);
    (from < to && distance <= reach).then_some((to - from, distance, at))
}
