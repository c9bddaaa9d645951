//! Tracks as they run: pieces of one net and layer, joined where exactly two of them meet.

use std::collections::{HashMap, VecDeque};

use crate::board::{Board, LayerId, NetId, Track};
use crate::geometry::{Point, Segment};
use crate::observer::{STOP_EVERY, Stop};

/// A chain of tracks.
#[derive(Clone, Debug)]
pub(crate) struct TrackRun {
    pub(crate) net: NetId,
    pub(crate) layer: LayerId,
    /// Its lines, one behind the other.
    pub(crate) lines: Vec<Segment>,
    /// The width of each line in mm.
    pub(crate) widths: Vec<f64>,
}

impl TrackRun {
    /// Its length in mm.
    pub(crate) fn length(&self) -> f64 {
        self.lines.iter().map(Segment::length).sum()
    }

    /// The point `distance` mm from its beginning.
    pub(crate) fn at(&self, mut distance: f64) -> Point {
        for line in &self.lines {
            let length = line.length();
            if distance <= length && length > 0.0 {
                return line.at(distance / length);
            }
            distance -= length;
        }
        self.end()
    }

    /// The points from `from` mm to `to` mm from its beginning: both ends, and the corners between them.
    pub(crate) fn between(&self, from: f64, to: f64) -> Vec<Point> {
        let mut points = vec![self.at(from)];
        let mut distance = 0.0;
        for line in &self.lines {
            distance += line.length();
            if from < distance && distance < to {
                points.push(line.b);
            }
        }
        points.push(self.at(to));
        points
    }

    /// The width of the line that is `distance` mm from its beginning, in mm.
    pub(crate) fn width_at(&self, mut distance: f64) -> f64 {
        for (line, width) in self.lines.iter().zip(&self.widths) {
            let length = line.length();
            if distance <= length && length > 0.0 {
                return *width;
            }
            distance -= length;
        }
        self.widths.last().copied().unwrap_or_default()
    }

    /// Where it begins.
    pub(crate) fn start(&self) -> Point {
        self.lines.first().map(|line| line.a).unwrap_or_default()
    }

    /// Where it ends.
    pub(crate) fn end(&self) -> Point {
        self.lines.last().map(|line| line.b).unwrap_or_default()
    }
}

/// A point to the nanometre, which is how exactly files tell points.
pub(crate) fn key(point: Point) -> (i64, i64) {
    #[expect(clippy::cast_possible_truncation, reason = "coordinates are bounded")]
    let round = |value: f64| (value * 1e6).round() as i64;
    (round(point.x), round(point.y))
}

/// The runs of a board, by net and layer; not all of them if `stop` says so.
pub(crate) fn runs(board: &Board, stop: Stop<'_>) -> Vec<TrackRun> {
    let tracks = board
        .tracks
        .chunk_by(|x, y| (x.net, x.layer) == (y.net, y.layer));
    tracks
        .take_while(|_| !stop())
        .flat_map(|tracks| chain(tracks, stop))
        .collect()
}

/// Chains the tracks of one net and layer.
fn chain(tracks: &[Track], stop: Stop<'_>) -> Vec<TrackRun> {
    let lines: Vec<Segment> = tracks.iter().map(|track| track.line).collect();
    let run = |chain: Vec<(usize, Segment)>| TrackRun {
        net: tracks[0].net,
        layer: tracks[0].layer,
        widths: chain
            .iter()
            .map(|(index, _)| tracks[*index].width)
            .collect(),
        lines: chain.into_iter().map(|(_, line)| line).collect(),
    };
    chains(&lines, stop).into_iter().map(run).collect()
}

/// Lines joined where exactly two of them meet, each turned as its chain runs, with its index; not all of them if `stop`
/// says so.
pub(crate) fn chains(lines: &[Segment], stop: Stop<'_>) -> Vec<Vec<(usize, Segment)>> {
    let mut ends: HashMap<(i64, i64), Vec<usize>> = HashMap::new();
    for (index, line) in lines.iter().enumerate() {
        if index.is_multiple_of(STOP_EVERY) && stop() {
            return Vec::new();
        }
        ends.entry(key(line.a)).or_default().push(index);
        ends.entry(key(line.b)).or_default().push(index);
    }
    let mut is_used = vec![false; lines.len()];
    let mut chains = Vec::new();
    for first in 0..lines.len() {
        if first.is_multiple_of(STOP_EVERY) && stop() {
            break;
        }
        if std::mem::replace(&mut is_used[first], true) {
            continue;
        }
        let mut chain = VecDeque::from([(first, lines[first])]);
        for forward in [true, false] {
            while let Some(next) = next(lines, &ends, &mut is_used, &chain, forward) {
                if forward {
                    chain.push_back(next);
                } else {
                    chain.push_front(next);
                }
            }
        }
        chains.push(chain.into());
    }
    chains
}

/// The line that continues a chain at one of its ends, turned as the chain runs.
fn next(
    lines: &[Segment],
    ends: &HashMap<(i64, i64), Vec<usize>>,
    is_used: &mut [bool],
    chain: &VecDeque<(usize, Segment)>,
    forward: bool,
) -> Option<(usize, Segment)> {
    let end = if forward {
        chain.back()?.1.b
    } else {
        chain.front()?.1.a
    };
    let meeting = ends.get(&key(end)).filter(|meeting| meeting.len() == 2)?;
    let index = *meeting.iter().find(|index| !is_used[**index])?;
    is_used[index] = true;
    let line = lines[index];
    let begins_here = key(line.a) == key(end);
    Some((
        index,
        if begins_here == forward {
            line
        } else {
            Segment::new(line.b, line.a)
        },
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn track(ends: [f64; 4]) -> Track {
        let [ax, ay, bx, by] = ends;
        Track {
            line: Segment::new(Point::new(ax, ay), Point::new(bx, by)),
            width: 0.2,
            layer: 0,
            net: 0,
            source_line: 0,
        }
    }

    #[test]
    fn tracks_are_joined_where_two_meet() {
        let board = Board {
            tracks: [
                [0.0, 0.0, 1.0, 0.0],
                [2.0, 0.0, 1.0, 0.0],
                [2.0, 0.0, 2.0, 3.0],
                [5.0, 5.0, 6.0, 5.0],
            ]
            .map(track)
            .into(),
            ..Board::default()
        };
        let found = runs(&board, &|| false);
        assert_eq!(
            found.iter().map(TrackRun::length).collect::<Vec<_>>(),
            [5.0, 1.0]
        );
        assert_eq!(
            (found[0].start(), found[0].end()),
            (Point::new(0.0, 0.0), Point::new(2.0, 3.0))
        );
        assert_eq!(found[0].at(1.5), Point::new(1.5, 0.0));
        let corners = [(1.5, 0.0), (2.0, 0.0), (2.0, 2.0)].map(|(x, y)| Point::new(x, y));
        assert_eq!(found[0].between(1.5, 4.0), corners);
    }

    #[test]
    fn runs_end_where_three_meet_and_rings_end_somewhere() {
        let star = [
            [0.0, 0.0, 1.0, 0.0],
            [0.0, 0.0, 0.0, 1.0],
            [0.0, 0.0, -1.0, 0.0],
        ]
        .map(track);
        assert_eq!(
            runs(
                &Board {
                    tracks: star.into(),
                    ..Board::default()
                },
                &|| false
            )
            .len(),
            3
        );
        let ring = [
            [0.0, 0.0, 1.0, 0.0],
            [1.0, 0.0, 1.0, 1.0],
            [1.0, 1.0, 0.0, 0.0],
        ]
        .map(track);
        assert_eq!(
            runs(
                &Board {
                    tracks: ring.into(),
                    ..Board::default()
                },
                &|| false
            )
            .len(),
            1
        );
    }
}
