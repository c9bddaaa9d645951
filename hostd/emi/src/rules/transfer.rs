//! Ways of a return current over other planes: through vias and capacitors.

use super::Context;
use crate::board::Fill;
use crate::copper::{Transfer, Way};
use crate::geometry::{Point, Segment};

/// How far from a gap vias and capacitors are looked for, in mm.
const SEARCH_MM: f64 = 25.0;

/// How many of the nearest are looked at on each side, and how many of them are tried.
const LOOKED_AT_MAX: usize = 24;
const TRIED_MAX: usize = 6;

/// How far a plane may stay away from what joins it, in mm: thermal reliefs, pads of capacitors.
const LOOSE_MM: f64 = 1.0;

/// Something that joins planes, how far it is, and where.
type Near<'a> = (f64, Point, &'a Transfer);

/// The shortest way from a place at one plane to a place at another one, or the same, that goes through one or two vias or
/// capacitors and is shorter than `most`.
pub(super) fn over(
    context: &Context<'_>,
    (a, from): (Point, usize),
    (b, to): (Point, usize),
    most: f64,
) -> Option<Way> {
    let before = near(context, a, from, most);
    let after = near(context, b, to, most);
    let mut best: Option<Way> = None;
    let mut take = |way: Way| {
        if best.as_ref().map_or(most, |best| best.length) > way.length {
            best = Some(way);
        }
    };
    if from != to {
        through_one(context, &before, (a, from), (b, to), &mut take);
    }
    let mut least = most;
    for first in &before {
        for second in &after {
            if first.0 + first.1.distance(second.1) + second.0 < least
                && let Some(way) = through_two(context, (a, from, first), (b, to, second), least)
            {
                least = least.min(way.length);
                take(way);
            }
        }
    }
    best
}

/// What joins a plane near a place, the nearest first, each with the length of the way to it.
fn near<'a>(context: &'a Context<'_>, place: Point, fill: usize, most: f64) -> Vec<Near<'a>> {
    let plane = &context.board.fills[fill];
    let within = SEARCH_MM.min(most);
    let around = context.transfers.within(place, within);
    let reaching = around.filter(|(_, transfer)| transfer.reaches(plane));
    let mut around: Vec<Near<'_>> = reaching
        .map(|(at, transfer)| (at.distance(place), at, transfer))
        .collect();
    around.sort_by(|x, y| x.0.total_cmp(&y.0).then(x.1.order(y.1)));
    let ways = around.into_iter().take(LOOKED_AT_MAX);
    let ways = ways.filter_map(|(_, at, transfer)| {
        let line = Segment::new(place, at);
        let length = context
            .planes
            .straight(plane.layer, fill, &line, most, [0.0, LOOSE_MM])?;
        Some((length, at, transfer))
    });
    ways.take(TRIED_MAX).collect()
}

/// Through one via or capacitor that joins both planes.
fn through_one(
    context: &Context<'_>,
    before: &[Near<'_>],
    (a, from): (Point, usize),
    (b, to): (Point, usize),
    take: &mut impl FnMut(Way),
) {
    let (first, second) = (&context.board.fills[from], &context.board.fills[to]);
    for (length, at, transfer) in before {
        if !transfer.joins(first, second) {
            continue;
        }
        let line = Segment::new(*at, b);
        let on = context
            .planes
            .straight(second.layer, to, &line, SEARCH_MM, [LOOSE_MM, 0.0]);
        if let Some(on) = on {
            take(Way {
                points: vec![a, *at, b],
                length: length + on + height(context, first, second),
            });
        }
    }
}

/// Through two of them, and another plane between.
fn through_two(
    context: &Context<'_>,
    (a, from, first): (Point, usize, &Near<'_>),
    (b, to, second): (Point, usize, &Near<'_>),
    most: f64,
) -> Option<Way> {
    let (upper, lower) = (&context.board.fills[from], &context.board.fills[to]);
    let (there, at, one) = *first;
    let (back, other_at, other) = *second;
    let line = Segment::new(at, other_at);
    let mut best: Option<Way> = None;
    for layer in 0..context.board.layers.len() {
        let here = context.planes.near(layer, at, LOOSE_MM);
        for fill in here.into_iter().filter(|fill| *fill != from && *fill != to) {
            let plane = &context.board.fills[fill];
            if !one.joins(upper, plane) || !other.joins(plane, lower) {
                continue;
            }
            let known = best.as_ref().map_or(most, |way| way.length);
            let heights = height(context, upper, plane) + height(context, plane, lower);
            let left = known - there - back - heights;
            let on = context
                .planes
                .straight(layer, fill, &line, left, [LOOSE_MM; 2]);
            if let Some(on) = on {
                best = Some(Way {
                    points: vec![a, at, other_at, b],
                    length: there + on + back + heights,
                });
            }
        }
    }
    best
}

/// From one plane to another, in mm.
fn height(context: &Context<'_>, x: &Fill, y: &Fill) -> f64 {
    if x.layer == y.layer {
        return 0.0;
    }
    context.board.stackup.distance(x.layer, y.layer)
}
