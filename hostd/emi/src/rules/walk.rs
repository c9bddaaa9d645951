//! What is under a run of tracks, from one end to the other.

use super::Context;
use crate::board::NetId;
use crate::copper::{TrackRun, nets_of, union};
use crate::geometry::Point;

/// A part of a run, in mm from its beginning.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ground {
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) under: Under,
}

/// What is under a part of a run.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Under {
    /// Planes of these nets.
    Planes(Vec<NetId>),
    /// The antipad of a via or pad of the run's own net.
    Antipad,
    /// No plane.
    Nothing,
}

impl Ground {
    pub(super) fn length(&self) -> f64 {
        self.to - self.from
    }
}

/// Copper that is narrower than this many heights above it is no plane.
const PLANE_HEIGHTS_MIN: f64 = 3.0;

/// How far the edge of a plane is looked for, in mm.
pub(super) const EDGE_MM_MAX: f64 = 25.0;

/// At how many places of a gap its distance from the plane is measured.
const EDGE_PLACES: u32 = 16;

/// Places along a stretch of a run, both ends included.
pub(super) fn places(run: &TrackRun, ground: &Ground) -> Vec<Point> {
    let part = |i: u32| f64::from(i) / f64::from(EDGE_PLACES);
    (0..=EDGE_PLACES)
        .map(|i| run.at(ground.from + ground.length() * part(i)))
        .collect()
}

/// How far the edge of a plane is from the farthest of some places on the layer of a run, in mm, at most
/// [`EDGE_MM_MAX`].
pub(super) fn edge(context: &Context<'_>, run: &TrackRun, places: &[Point]) -> f64 {
    let edge = |place: &Point| {
        let planes = &context.planes;
        let near = planes.edge_distance(run.layer, *place, EDGE_MM_MAX);
        near.unwrap_or(EDGE_MM_MAX)
    };
    places.iter().map(edge).fold(0.0, f64::max)
}

/// Walks along a run, without copper that is too narrow for a plane. Empty if its layer has no planes beside it; not to its end if
/// the check is stopped.
pub(super) fn walk(context: &Context<'_>, run: &TrackRun) -> Vec<Ground> {
    merged(context, run, &copper(context, run))
}

/// What [`copper`] found, with narrow copper between two gaps as a part of these.
pub(super) fn merged(context: &Context<'_>, run: &TrackRun, grounds: &[Ground]) -> Vec<Ground> {
    let nearest = context.planes.references(run.layer).first();
    let height = nearest.map_or(0.0, |r| r.height);
    without_slivers(grounds, PLANE_HEIGHTS_MIN * height)
}

/// Walks along a run, over all copper, however narrow. Empty if its layer has no planes beside it.
pub(super) fn copper(context: &Context<'_>, run: &TrackRun) -> Vec<Ground> {
    if context.planes.references(run.layer).is_empty() {
        return Vec::new();
    }
    let mut grounds: Vec<Ground> = Vec::new();
    let mut start = 0.0;
    for line in &run.lines {
        if context.is_stopped() {
            break;
        }
        let length = line.length();
        let antipads = union(context.antipads.cut(run.net, line));
        for piece in context.planes.pieces(run.layer, line) {
            let (from, to) = (start + piece.from * length, start + piece.to * length);
            if !piece.over.is_empty() {
                let nets = nets_of(context.board, &piece.over);
                push(
                    &mut grounds,
                    Ground {
                        from,
                        to,
                        under: Under::Planes(nets),
                    },
                );
                continue;
            }
            let mut at = from;
            for (a, b) in antipads
                .iter()
                .map(|(a, b)| (start + a * length, start + b * length))
            {
                let (a, b) = (a.clamp(at, to), b.clamp(at, to));
                push(
                    &mut grounds,
                    Ground {
                        from: at,
                        to: a,
                        under: Under::Nothing,
                    },
                );
                push(
                    &mut grounds,
                    Ground {
                        from: a,
                        to: b,
                        under: Under::Antipad,
                    },
                );
                at = b;
            }
            push(
                &mut grounds,
                Ground {
                    from: at,
                    to,
                    under: Under::Nothing,
                },
            );
        }
        start += length;
    }
    grounds
}

fn push(grounds: &mut Vec<Ground>, ground: Ground) {
    if ground.length() <= 0.0 {
        return;
    }
    match grounds.last_mut() {
        Some(last) if last.under == ground.under => last.to = ground.to,
        _ => grounds.push(ground),
    }
}

/// Copper between two gaps that is shorter than `least` is no plane.
fn without_slivers(grounds: &[Ground], least: f64) -> Vec<Ground> {
    let is_open = |ground: Option<&Ground>| ground.is_some_and(|g| g.under == Under::Nothing);
    let mut kept: Vec<Ground> = Vec::with_capacity(grounds.len());
    let mut at = 0;
    while at < grounds.len() {
        let count = grounds[at..]
            .iter()
            .take_while(|g| g.under != Under::Nothing)
            .count();
        let covered = &grounds[at..at + count];
        let length: f64 = covered.iter().map(Ground::length).sum();
        let has_plane = covered.iter().any(|g| matches!(g.under, Under::Planes(_)));
        let is_sliver =
            has_plane && length < least && is_open(kept.last()) && is_open(grounds.get(at + count));
        for ground in covered {
            let under = if is_sliver {
                Under::Nothing
            } else {
                ground.under.clone()
            };
            push(&mut kept, Ground { under, ..*ground });
        }
        if let Some(open) = grounds.get(at + count) {
            push(&mut kept, open.clone());
        }
        at += count + 1;
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grounds(parts: &[(f64, Option<usize>)]) -> Vec<Ground> {
        let mut at = 0.0;
        let mut grounds = Vec::new();
        for (length, net) in parts {
            let under = net.map_or(Under::Nothing, |net| Under::Planes(vec![net]));
            grounds.push(Ground {
                from: at,
                to: at + length,
                under,
            });
            at += length;
        }
        grounds
    }

    #[test]
    fn copper_between_two_gaps_is_a_plane_only_if_it_is_wide() {
        let open = |parts: &[(f64, Option<usize>)]| -> Vec<f64> {
            let kept = without_slivers(&grounds(parts), 1.0);
            kept.iter()
                .filter(|g| g.under == Under::Nothing)
                .map(Ground::length)
                .collect()
        };
        assert_eq!(
            open(&[
                (5.0, Some(1)),
                (2.0, None),
                (0.5, Some(1)),
                (2.0, None),
                (5.0, Some(1))
            ]),
            [4.5]
        );
        assert_eq!(
            open(&[
                (5.0, Some(1)),
                (2.0, None),
                (1.5, Some(1)),
                (2.0, None),
                (5.0, Some(1))
            ]),
            [2.0, 2.0]
        );
        // What is together wide enough stays, and so does the end of a run.
        assert_eq!(
            open(&[(2.0, None), (0.6, Some(1)), (0.6, Some(2)), (2.0, None)]),
            [2.0, 2.0]
        );
        assert_eq!(open(&[(0.5, Some(1)), (2.0, None), (0.5, Some(1))]), [2.0]);
    }
}
