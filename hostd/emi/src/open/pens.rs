//! Outlines of pours that are drawn once more with a pen, as KiCad did up to version 5 and others still do: the pour is
//! larger by half of the pen, and the lines are no tracks.

use std::collections::HashMap;

use super::pieces::{Copper, Piece};
use crate::geometry::{Point, Segment};

/// Ends that are nearer than this are one, in mm.
const NEAR_MM: f64 = 1e-4;

/// The part of a pour's sides that a pen has drawn at least.
const DRAWN_MIN: f64 = 0.5;

type Key = [i64; 4];

/// Takes lines that are sides of pours into the pours.
pub(super) fn taken_in(mut pieces: Vec<Piece>) -> Vec<Piece> {
    let mut pens: HashMap<Key, (usize, f64)> = HashMap::new();
    for (index, piece) in pieces.iter().enumerate() {
        if let Copper::Track { line, width } = &piece.copper {
            pens.insert(key(line), (index, *width));
        }
    }
    let mut is_gone = vec![false; pieces.len()];
    if pens.is_empty() {
        return pieces;
    }
    for piece in &mut pieces {
        let Copper::Pour(shape) = &mut piece.copper else {
            continue;
        };
        let drawn: Vec<(usize, f64)> = shape
            .sides()
            .filter_map(|side| pens.get(&key(&side)).copied())
            .collect();
        let Some(width) = drawn.first().map(|(_, width)| *width) else {
            continue;
        };
        let is_one_pen = drawn.iter().all(|(_, other)| *other == width);
        let part = drawn.len() as f64 / shape.points.len() as f64;
        if is_one_pen && part >= DRAWN_MIN {
            shape.radius = width / 2.0;
            drawn.iter().for_each(|(index, _)| is_gone[*index] = true);
        }
    }
    let mut index = 0;
    pieces.retain(|_| {
        index += 1;
        !is_gone[index - 1]
    });
    pieces
}

/// A line, whichever way it runs.
#[expect(clippy::cast_possible_truncation, reason = "coordinates are bounded")]
fn key(line: &Segment) -> Key {
    let cell = |p: Point| {
        [
            (p.x / NEAR_MM).round() as i64,
            (p.y / NEAR_MM).round() as i64,
        ]
    };
    let (a, b) = (cell(line.a), cell(line.b));
    let ([x, y], [z, w]) = if a <= b { (a, b) } else { (b, a) };
    [x, y, z, w]
}
