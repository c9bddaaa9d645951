//! Gaps of the planes under a run, and how the return current goes around them.

use std::collections::BTreeMap;

use super::Context;
use super::transfer;
use super::walk::{EDGE_MM_MAX, Ground, Under, copper, edge, merged, places};
use crate::copper::{TrackRun, Way, nets_of};

/// A stretch of a run without a plane.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Gap {
    /// Where it begins and ends, in mm from the beginning of the run.
    pub(super) from: f64,
    pub(super) to: f64,
    /// How much of it has no copper below, in mm: without narrow copper and antipads of the run's own net.
    pub(super) open: f64,
    pub(super) ends: Ends,
    pub(super) around: Around,
    /// Whether a plane beside the run on its own layer carries the return current.
    pub(super) is_beside: bool,
}

/// What is at the ends of a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ends {
    /// Planes, which have nets in common or not.
    Planes { one_net: bool },
    /// The antipad of a via or pad at which the run ends.
    Joint,
    /// The run ends in it.
    Nothing,
}

/// How the return current goes around a gap.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Around {
    /// How much longer than the gap its way is, in mm; `None` if there is none.
    pub(super) extra: Option<f64>,
    /// The loop that its way makes with the trace, in mm²: what both enclose, and what has the inductance of a slot that is as
    /// long as the way to its end.
    pub(super) loop_mm2: f64,
    /// Whether there is copper, whose way is not known, so that this is only the distance to its edge.
    is_estimated: bool,
}

/// Copper and capacitors are looked through for ways up to this length, in mm.
pub(super) const WAY_MM_MAX: f64 = 200.0;

/// Planes so near beside a trace on its own layer carry its return, in mm, and those that are there for so much of a gap.
pub(super) const BESIDE_MM: f64 = 1.0;
pub(super) const BESIDE_PART: f64 = 0.8;

/// Slots longer than this, from the trace to their end, do not count for more, in mm.
const SLOT_MM_MAX: f64 = 25.0;

impl Around {
    /// Of a way that is `extra` longer than the gap and encloses `area`; the trace is `width` wide.
    fn of(extra: f64, area: f64, width: f64) -> Self {
        let extra = extra.max(0.0);
        Self {
            extra: Some(extra),
            loop_mm2: area + slot_mm2(extra / 2.0, width),
            is_estimated: false,
        }
    }

    /// No way.
    fn none(open: f64, width: f64) -> Self {
        Self {
            extra: None,
            loop_mm2: open * SLOT_MM_MAX + slot_mm2(SLOT_MM_MAX, width),
            is_estimated: false,
        }
    }

    /// The better one of two: the shorter one of those that are known.
    fn or(self, other: Self) -> Self {
        let length = |around: &Self| {
            let is_known = around.extra.is_some() && !around.is_estimated;
            (!is_known, around.extra.unwrap_or(f64::INFINITY))
        };
        if length(&other) < length(&self) {
            other
        } else {
            self
        }
    }
}

/// The loop in mm² that has the moment of a slot: its inductance L = (μ0/2π)·D·ln(D/W) (Johnson & Graham 1993) drives a voltage
/// along it, which falls to nothing at both ends D away, so that the loop is L·D/μ0.
fn slot_mm2(distance: f64, width: f64) -> f64 {
    let distance = distance.min(SLOT_MM_MAX);
    let ratio = (distance / width.max(0.01)).max(1.0);
    distance * distance * ratio.ln() / std::f64::consts::TAU
}

/// What is between two stretches of copper below a run.
#[derive(Clone, Copy, Debug)]
struct Void {
    from: f64,
    to: f64,
    /// Without antipads.
    open: f64,
    at_start: bool,
    at_end: bool,
}

/// What is asked about gaps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    /// Shorter gaps are none, in mm.
    pub(super) least: f64,
    /// Ways that are longer than their gaps by no more than that are not shortened any more, in mm.
    pub(super) enough: f64,
}

/// The gaps under a run.
pub(super) fn gaps(context: &Context<'_>, run: &TrackRun, wanted: Wanted) -> Vec<Gap> {
    let grounds = copper(context, run);
    let mut voids = voids(&grounds);
    voids.retain(|void| wanted.least < void.open);
    if voids.is_empty() {
        return Vec::new();
    }
    let merged = merged(context, run, &grounds);
    let last = merged.len() - 1;
    let mut found: Vec<(std::ops::Range<usize>, bool)> = Vec::new();
    for (index, ground) in merged.iter().enumerate() {
        if ground.under != Under::Nothing {
            continue;
        }
        let first = voids.partition_point(|void| void.to <= ground.from);
        let count = voids[first..].partition_point(|void| void.from < ground.to);
        let is_end = index == 0 || index == last;
        match found.last_mut() {
            // Both sides of an antipad.
            Some((known, at_end)) if first < known.end => {
                known.end = known.end.max(first + count);
                *at_end |= is_end;
            }
            _ => found.push((first..first + count, is_end)),
        }
    }
    let found = found.into_iter().filter(|(range, _)| !range.is_empty());
    found
        .take_while(|_| !context.is_stopped())
        .map(|(range, at_end)| gap(context, run, &voids[range], at_end, wanted.enough))
        .collect()
}

fn voids(grounds: &[Ground]) -> Vec<Void> {
    let mut voids: Vec<Void> = Vec::new();
    let mut is_open = false;
    for (index, ground) in grounds.iter().enumerate() {
        if matches!(ground.under, Under::Planes(_)) {
            is_open = false;
            continue;
        }
        let open = if ground.under == Under::Nothing {
            ground.length()
        } else {
            0.0
        };
        let at_end = index + 1 == grounds.len();
        match voids.last_mut().filter(|_| is_open) {
            Some(void) => {
                void.to = ground.to;
                void.open += open;
                void.at_end = at_end;
            }
            None => voids.push(Void {
                from: ground.from,
                to: ground.to,
                open,
                at_start: index == 0,
                at_end,
            }),
        }
        is_open = true;
    }
    voids
}

fn gap(context: &Context<'_>, run: &TrackRun, voids: &[Void], at_end: bool, enough: f64) -> Gap {
    let (first, last) = (voids[0], voids[voids.len() - 1]);
    let open = voids.iter().map(|void| void.open).sum();
    let is_bounded = !first.at_start && !last.at_end;
    let (ends, around) = if is_bounded {
        let one_net = is_one_net(context, run, first.from, last.to);
        (
            Ends::Planes { one_net },
            between(context, run, voids, enough),
        )
    } else {
        let whole = Ground {
            from: first.from,
            to: last.to,
            under: Under::Nothing,
        };
        let edge = edge(context, run, &places(run, &whole));
        let ends = if at_end { Ends::Nothing } else { Ends::Joint };
        let around = Around {
            extra: Some(2.0 * edge),
            loop_mm2: open * edge,
            is_estimated: true,
        };
        (ends, around)
    };
    let mut gap = Gap {
        from: first.from,
        to: last.to,
        open,
        ends,
        around,
        is_beside: false,
    };
    if let Some(distance) = beside(context, run, &gap)
        && open * distance < gap.around.loop_mm2
    {
        gap.is_beside = true;
        gap.around.loop_mm2 = open * distance;
    }
    gap
}

/// How far a plane is beside a run on its own layer where there is a gap below, in mm: on average, if it is one of a net that the
/// planes before or after the gap have, and near enough almost everywhere.
fn beside(context: &Context<'_>, run: &TrackRun, gap: &Gap) -> Option<f64> {
    if context.planes.area(run.layer) <= 0.0 {
        return None;
    }
    let (from, to) = (gap.from, gap.to);
    let under = Under::Nothing;
    let places = places(run, &Ground { from, to, under });
    let ends = [from, to].map(|at| context.planes.beside(run.layer, run.at(at)));
    let nets = nets_of(context.board, &ends.concat());
    let reach = BESIDE_MM + run.width_at(from.midpoint(to)) / 2.0;
    let mut near: BTreeMap<usize, usize> = BTreeMap::new();
    let mut sum = 0.0;
    for place in &places {
        for fill in context.planes.near(run.layer, *place, reach) {
            if nets.contains(&context.board.fills[fill].net) {
                *near.entry(fill).or_default() += 1;
            }
        }
        let edge = context.planes.edge_on(run.layer, *place, reach);
        sum += edge.unwrap_or(reach);
    }
    let most = near.into_values().max()? as f64;
    let count = places.len() as f64;
    (BESIDE_PART * count <= most).then_some(sum / count)
}

/// Whether the planes at two places of a run have a net in common.
fn is_one_net(context: &Context<'_>, run: &TrackRun, from: f64, to: f64) -> bool {
    let nets = |at: f64| {
        let beside = context.planes.beside(run.layer, run.at(at));
        beside.into_iter().map(|fill| context.board.fills[fill].net)
    };
    let before: Vec<_> = nets(from).collect();
    nets(to).any(|net| before.contains(&net))
}

/// The way around some voids one after the other, or around all of them at once. Those that need no longer way than `enough`
/// are antipads, which do not add up to a slot.
fn between(context: &Context<'_>, run: &TrackRun, voids: &[Void], enough: f64) -> Around {
    let each: Vec<Around> = voids
        .iter()
        .take_while(|_| !context.is_stopped())
        .map(|void| around(context, run, (void.from, void.to), void.open, enough))
        .collect();
    let loop_mm2 = each.iter().map(|around| around.loop_mm2).sum();
    let is_small = |around: &&Around| around.extra.is_some_and(|extra| extra <= enough);
    let (small, large): (Vec<&Around>, Vec<&Around>) = each.iter().partition(is_small);
    match large[..] {
        [] => {
            let longest = small.iter().filter_map(|around| around.extra);
            Around {
                extra: Some(longest.fold(0.0, f64::max)),
                loop_mm2,
                is_estimated: false,
            }
        }
        [one] => Around { loop_mm2, ..*one },
        _ => {
            let extra = large
                .iter()
                .try_fold(0.0, |sum, around| Some(sum + around.extra?));
            let (from, to) = (voids[0].from, voids[voids.len() - 1].to);
            let open = voids.iter().map(|void| void.open).sum();
            let at_once = around(context, run, (from, to), open, enough);
            let each = Around {
                extra,
                loop_mm2,
                is_estimated: large.iter().any(|around| around.is_estimated),
            };
            let each = each.or(at_once);
            chained(context, run, voids).map_or(each, |along| each.or(along))
        }
    }
}

/// The way from the first of some voids to the last one on one side of all of them.
fn chained(context: &Context<'_>, run: &TrackRun, voids: &[Void]) -> Option<Around> {
    let (first, last) = (voids.first()?, voids.last()?);
    let mut sides = [Vec::new(), Vec::new()];
    let shared = |void: &Void| {
        let (a, b) = (run.at(void.from), run.at(void.to));
        let there = context.planes.beside(run.layer, b);
        let here = context.planes.beside(run.layer, a);
        here.into_iter().find(|fill| there.contains(fill))
    };
    let fill = shared(first)?;
    let layer = context.board.fills[fill].layer;
    for void in voids {
        if context.is_stopped() || shared(void) != Some(fill) {
            return None;
        }
        let (a, b) = (run.at(void.from), run.at(void.to));
        let mut ways = context.planes.ways_around(layer, fill, a, b)?;
        ways.sort_by(|x, y| x.turn().total_cmp(&y.turn()));
        for (side, way) in sides.iter_mut().zip(ways) {
            side.extend(way.points);
        }
    }
    let ways = sides.map(|points| context.planes.shortened(layer, fill, &points));
    let shortest = ways
        .into_iter()
        .flatten()
        .min_by(|x, y| x.length.total_cmp(&y.length))?;
    Some(measured(run, (first.from, last.to), &shortest))
}

/// A way around a stretch of a run.
fn measured(run: &TrackRun, (from, to): (f64, f64), way: &Way) -> Around {
    let width = run.width_at(from.midpoint(to));
    Around::of(way.length - (to - from), way.turn().abs() / 2.0, width)
}

/// The shortest way around one stretch of a run: on one side of it, or over other planes.
fn around(
    context: &Context<'_>,
    run: &TrackRun,
    (from, to): (f64, f64),
    open: f64,
    enough: f64,
) -> Around {
    let (a, b) = (run.at(from), run.at(to));
    let direct = to - from;
    let width = run.width_at(from.midpoint(to));
    let planes = &context.planes;
    let (before, after) = (planes.beside(run.layer, a), planes.beside(run.layer, b));
    let mut best: Option<Way> = None;
    let mut is_touching = false;
    for fill in before.iter().copied().filter(|fill| after.contains(fill)) {
        let layer = context.board.fills[fill].layer;
        let Some((short, _)) = planes.rim_lengths(layer, fill, a, b) else {
            // They belong together in a way that its rims do not show.
            is_touching = true;
            continue;
        };
        if short - direct <= enough {
            let extra = (short - direct).max(0.0);
            return Around::of(extra, direct * extra / 2.0, width);
        }
        let ways = planes.ways_around(layer, fill, a, b).into_iter().flatten();
        best = shorter(best, ways);
    }
    let most = best.as_ref().map_or(WAY_MM_MAX, |way| way.length);
    if enough < most - direct {
        for (x, y) in pairs(&before, &after) {
            let over = transfer::over(context, (a, x), (b, y), most);
            best = shorter(best, over);
            is_touching |= x != y && planes.touch(context.board, x, y);
        }
    }
    match best.filter(|way| way.length - direct <= WAY_MM_MAX) {
        Some(way) => measured(run, (from, to), &way),
        None if is_touching || before.is_empty() || after.is_empty() => {
            estimated(context, run, (from, to), open)
        }
        None => Around::none(open, width),
    }
}

fn shorter(best: Option<Way>, ways: impl IntoIterator<Item = Way>) -> Option<Way> {
    let all = best.into_iter().chain(ways);
    all.min_by(|x, y| x.length.total_cmp(&y.length))
}

fn pairs(before: &[usize], after: &[usize]) -> Vec<(usize, usize)> {
    let pairs = before
        .iter()
        .flat_map(|x| after.iter().map(move |y| (*x, *y)));
    pairs.collect()
}

/// Where the copper is one piece, but how is not known: to the edge and back.
fn estimated(context: &Context<'_>, run: &TrackRun, (from, to): (f64, f64), open: f64) -> Around {
    let under = Under::Nothing;
    let edge = edge(context, run, &places(run, &Ground { from, to, under })).min(EDGE_MM_MAX);
    Around {
        is_estimated: true,
        ..Around::of(2.0 * edge, open * edge, run.width_at(from.midpoint(to)))
    }
}
