//! Edges of the board where ground planes end unjoined.

use super::{Assumption, Param, Rule, Scope};
use crate::board::LayerSet;
use crate::copper::{chains, whole};
use crate::finding::{Draft, Severity};
use crate::found::Found;
use crate::geometry::{Bounds, Point, Segment};
use crate::observer::Cancelled;

pub(super) static RULE: Rule = Rule {
    id: "edge-stitching",
    title: "Ground planes are not joined along the edge",
    about: "Between two planes, the edge of a board is a slot. Vias along it close the slot.",
    formula: "Along the outline: stretches longer than λ/20 that ground planes on two layers reach within edge_band_mm, with no via \
              or plated hole of a ground within edge_band_mm; λ = c/(f_max·√εr).",
    source: "λ/20: Ott 2009",
    severity: "warning",
    validity: "boards with an outline and grounds on two layers",
    params: &[
        Param {
            key: "max_spacing_mm",
            default: 0.0,
            about: "in place of λ/20; 0 for λ/20",
        },
        Param {
            key: "edge_band_mm",
            default: 2.0,
            about: "how near the edge is at the edge",
        },
    ],
    assumes: &[Assumption::Frequency, Assumption::Stackup],
    check,
};

/// Pieces of a stretch that is allowed.
const PLACES: f64 = 8.0;

/// Most places of one chain of the outline that are looked at.
const PLACES_MAX: f64 = 100_000.0;

fn check(scope: &Scope<'_>) -> Result<Found, Cancelled> {
    let chains: Vec<Vec<Segment>> = chains(&scope.board.outline, &|| scope.is_stopped())
        .into_iter()
        .map(|chain| chain.into_iter().map(|(_, line)| line).collect())
        .collect();
    scope.each(&chains, |lines| open_stretches(scope, lines))
}

fn open_stretches(scope: &Scope<'_>, lines: &[Segment]) -> Vec<Draft> {
    let declared = scope.param("max_spacing_mm");
    let limit = if declared > 0.0 {
        declared
    } else {
        scope.part_of_wavelength(1.0 / 20.0)
    };
    let band = scope.param("edge_band_mm");
    let length: f64 = lines.iter().map(Segment::length).sum();
    let step = (limit / PLACES).max(length / PLACES_MAX);
    let count = whole(length / step);
    if count == 0 {
        return Vec::new();
    }
    let places = along(lines, length / count as f64, count);
    let posts = posts(scope, lines, band);
    let mut open: Vec<(f64, f64)> = Vec::new();
    // The stretches between two posts, of which the first and the last are one on a closed chain.
    let is_closed = lines
        .first()
        .map(|l| l.a)
        .zip(lines.last().map(|l| l.b))
        .is_some_and(|(a, b)| a.distance(b) < 1e-6);
    let edges: Vec<f64> = posts
        .iter()
        .copied()
        .chain(std::iter::once(length))
        .collect();
    let mut from = 0.0;
    for to in edges {
        open.push((from, to));
        from = to;
    }
    if is_closed && open.len() > 1 {
        let (last, _) = open.pop().unwrap_or_default();
        let (_, first) = open.remove(0);
        open.push((last, length + first));
    }
    let at = |s: f64| places[whole(s / length * count as f64) % count];
    let longer = open.into_iter().filter(|(from, to)| limit < to - from);
    longer
        .flat_map(|(from, to)| with_planes(scope, (from, to), step, band, limit, &at))
        .collect()
}

/// The parts of an open stretch that ground planes on two layers reach, as findings where they are too long.
fn with_planes(
    scope: &Scope<'_>,
    (from, to): (f64, f64),
    step: f64,
    band: f64,
    limit: f64,
    at: &impl Fn(f64) -> Point,
) -> Vec<Draft> {
    let steps = whole((to - from) / step).max(1);
    let mut found = Vec::new();
    let mut run: Vec<Point> = Vec::new();
    for index in 0..=steps {
        let point = at(from + (index as f64 + 0.5) * step);
        if index < steps && layers_at(scope, point, band).count() >= 2 {
            run.push(point);
            continue;
        }
        let length = run.len() as f64 * step;
        if limit < length {
            let detail = format!(
                "{length:.1} mm of the edge have ground planes on two layers and no via within {band:.1} mm; {limit:.1} mm are λ/20"
            );
            let draft = Draft::new(Severity::Warning, run[run.len() / 2], RULE.title, detail);
            found.push(
                draft
                    .bounds(Bounds::of(run.iter().copied()))
                    .measure(length, limit, "mm"),
            );
        }
        run.clear();
    }
    found
}

/// The layers on which a ground plane is at the edge.
fn layers_at(scope: &Scope<'_>, point: Point, band: f64) -> LayerSet {
    let layers = 0..scope.board.layers.len();
    let reaches = |layer: usize| {
        let mut near = scope.planes.near(layer, point, band).into_iter();
        near.any(|fill| scope.is_ground(scope.board.fills[fill].net))
    };
    layers
        .filter(|layer| reaches(*layer))
        .fold(LayerSet::NONE, |set, layer| set.with(LayerSet::only(layer)))
}

/// Where along the chain joints of grounds are, in order.
fn posts(scope: &Scope<'_>, lines: &[Segment], band: f64) -> Vec<f64> {
    let mut posts = Vec::new();
    let mut start = 0.0;
    for line in lines {
        let near = scope.joints.along(line, band);
        let grounds =
            near.filter(|(_, joint)| scope.is_ground(joint.net) && joint.span.count() >= 2);
        posts.extend(grounds.map(|(at, _)| start + line.nearest(at) * line.length()));
        start += line.length();
    }
    posts.sort_by(f64::total_cmp);
    posts
}

/// Places in the middle of equal parts of a chain.
fn along(lines: &[Segment], step: f64, count: usize) -> Vec<Point> {
    let mut places = Vec::with_capacity(count);
    let mut start = 0.0;
    let mut next = step / 2.0;
    for line in lines {
        let length = line.length();
        while places.len() < count && next <= start + length && length > 0.0 {
            places.push(line.at((next - start) / length));
            next += step;
        }
        start += length;
    }
    let last = lines.last().map(|line| line.b).unwrap_or_default();
    places.resize(count, last);
    places
}
