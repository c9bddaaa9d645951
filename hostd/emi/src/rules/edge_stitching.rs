//! Edges of the board where ground planes end unjoined.

use super::{Assumption, Param, Rule, Scope};
use crate::board::LayerSet;
use crate::copper::{chains, steps};
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

/// Parts of a stretch that is allowed.
const PLACES: f64 = 8.0;

/// Most places of one chain of the outline that are looked at, but for those that corners and posts add.
const PLACES_MAX: f64 = 100_000.0;

fn check(scope: &Scope<'_>) -> Result<Found, Cancelled> {
    let chains: Vec<Vec<Segment>> = chains(&scope.board.outline, &|| scope.is_stopped())
        .into_iter()
        .map(|chain| chain.into_iter().map(|(_, line)| line).collect())
        .collect();
    scope.each(&chains, |lines| open_stretches(scope, lines))
}

/// A part of a chain, so short that its middle tells all about it.
#[derive(Clone, Copy)]
struct Part {
    middle: Point,
    /// In mm.
    length: f64,
    /// How many posts the chain has before it.
    posts: usize,
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
    if length <= limit {
        return Vec::new();
    }
    let posts = posts(scope, lines, band);
    let parts = parts(lines, &posts, (limit / PLACES).max(length / PLACES_MAX));
    let mut stretches: Vec<Vec<Part>> = parts
        .chunk_by(|x, y| x.posts == y.posts)
        .map(<[Part]>::to_vec)
        .collect();
    let is_closed = lines
        .first()
        .zip(lines.last())
        .is_some_and(|(first, last)| first.a.distance(last.b) < 1e-6);
    // On a closed chain, what is before the first post goes on behind the last one, if that is not where the chain ends.
    let goes_on = is_closed && posts.last().is_some_and(|last| *last < length);
    if goes_on && stretches.len() > 1 && stretches[0][0].posts == 0 {
        let first = stretches.remove(0);
        if let Some(last) = stretches.last_mut() {
            last.extend(first);
        }
    }
    let is_ring = is_closed && posts.is_empty();
    stretches
        .into_iter()
        .filter(|parts| limit < length_of(parts))
        .flat_map(|parts| with_planes(scope, &parts, is_ring, band, limit))
        .collect()
}

fn length_of(parts: &[Part]) -> f64 {
    parts.iter().map(|part| part.length).sum()
}

/// The parts of an open stretch that ground planes on two layers reach, as findings where they are too long. A ring has no
/// end.
fn with_planes(
    scope: &Scope<'_>,
    parts: &[Part],
    is_ring: bool,
    band: f64,
    limit: f64,
) -> Vec<Draft> {
    let mut is_slot: Vec<(Part, bool)> = parts
        .iter()
        .take_while(|_| !scope.is_stopped())
        .map(|part| (*part, layers_at(scope, part.middle, band).count() >= 2))
        .collect();
    if is_ring {
        // Begun where there is no slot, no slot goes on where it began.
        let none = is_slot.iter().position(|(_, is_slot)| !is_slot);
        is_slot.rotate_left(none.unwrap_or(0));
    }
    let slots = is_slot.split(|(_, is_slot)| !is_slot);
    let slots = slots.map(|slot| slot.iter().map(|(part, _)| *part).collect::<Vec<Part>>());
    slots
        .filter(|slot| limit < length_of(slot))
        .map(|slot| {
            let length = length_of(&slot);
            let detail = format!(
                "{length:.1} mm of the edge have ground planes on two layers and no via within {band:.1} mm; {limit:.1} mm are λ/20"
            );
            let at = slot[slot.len() / 2].middle;
            let around = Bounds::of(slot.iter().map(|part| part.middle));
            Draft::new(Severity::Warning, at, RULE.title, detail)
                .bounds(around)
                .measure(length, limit, "mm")
        })
        .collect()
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
        let near = scope.joints.all().along(line, band);
        let grounds =
            near.filter(|(_, joint)| scope.is_ground(joint.net) && joint.span.count() >= 2);
        posts.extend(grounds.map(|(at, _)| start + line.nearest(at) * line.length()));
        start += line.length();
    }
    posts.sort_by(f64::total_cmp);
    posts
}

/// The parts of a chain, at most about `step` long. What lies between two corners or posts has equal ones, so that a chain
/// that begins elsewhere or runs the other way has the same.
fn parts(lines: &[Segment], posts: &[f64], step: f64) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut start = 0.0;
    for line in lines {
        let length = line.length();
        let end = start + length;
        let first = posts.partition_point(|post| *post <= start);
        let last = posts.partition_point(|post| *post < end).max(first);
        let ends = posts[first..last].iter().copied().chain([end]);
        let mut from = start;
        for (before, to) in (first..).zip(ends) {
            let count = steps(to - from, step).max(1);
            let each = (to - from) / count as f64;
            parts.extend((0..count).filter(|_| 0.0 < each).map(|index| {
                let middle = from + each * (index as f64 + 0.5);
                Part {
                    middle: line.at((middle - start) / length),
                    length: each,
                    posts: before,
                }
            }));
            from = to;
        }
        start = end;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_the_same_whichever_way_a_chain_runs() {
        let corners = [(0.0, 0.0), (10.0, 0.0), (10.0, 3.25), (14.0, 3.25)];
        let corners = corners.map(|(x, y)| Point::new(x, y));
        let lines: Vec<Segment> = corners
            .windows(2)
            .map(|c| Segment::new(c[0], c[1]))
            .collect();
        let back: Vec<Segment> = lines.iter().rev().map(|l| Segment::new(l.b, l.a)).collect();
        let posts = [2.5, 10.0, 12.0];
        let length = 17.25;
        let of_back: Vec<f64> = posts.iter().rev().map(|post| length - post).collect();
        let (found, turned) = (parts(&lines, &posts, 0.7), parts(&back, &of_back, 0.7));
        assert_eq!(found.len(), turned.len());
        for (part, other) in found.iter().zip(turned.iter().rev()) {
            assert!(part.middle.distance(other.middle) < 1e-9);
            assert!((part.length - other.length).abs() < 1e-9 && part.length < 1.4);
            assert_eq!(part.posts + other.posts, posts.len());
        }
        assert!((length_of(&found) - length).abs() < 1e-9);
        let before = |count| -> Vec<Part> {
            let parts = found.iter().copied();
            parts.filter(|part| part.posts == count).collect()
        };
        let lengths = [0, 1, 2, 3].map(|count| length_of(&before(count)));
        for (found, wanted) in lengths.iter().zip([2.5, 7.5, 2.0, 5.25]) {
            assert!((found - wanted).abs() < 1e-9, "{lengths:?}");
        }
    }
}
