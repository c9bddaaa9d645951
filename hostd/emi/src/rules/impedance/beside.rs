//! What is beside a trace on its own layer and changes its impedance: poured copper, and the other net of its pair.

use super::Scope;
use crate::board::{LayerId, NetId};
use crate::copper::steps;
use crate::geometry::{Point, Segment};

/// Copper that is farther than this many heights above the plane changes little: 2 % of the impedance.
const REACH_HEIGHTS: f64 = 2.0;

/// How far it is looked at most, in mm.
const REACH_MM_MAX: f64 = 3.0;

/// How often it is looked, in mm.
const STEP_MM: f64 = 1.0;

/// Most places on one piece.
const PLACES_MAX: usize = 256;

/// Gaps are rounded to powers of this, so that few sections have to be solved: an error of 3 % of the impedance at most.
const GAP_RATIO: f64 = 1.35;

/// The gap that rounding starts from, in mm. Usual clearances are far from where it rounds up or down.
const GAP_MM: f64 = 0.1;

/// Smaller gaps are taken as this, in mm: nobody makes them.
const GAP_MM_MIN: f64 = 0.05;

/// Largest sine between the traces of a pair: 10°.
const SINE_MAX: f64 = 0.174;

/// A rounded gap: its power of [`GAP_RATIO`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Gap(i32);

impl Gap {
    fn of(mm: f64) -> Self {
        let power = (mm.max(GAP_MM_MIN) / GAP_MM).ln() / GAP_RATIO.ln();
        #[expect(clippy::cast_possible_truncation, reason = "it is between −3 and 12")]
        Self(power.round() as i32)
    }

    pub(super) fn mm(self) -> f64 {
        GAP_MM * GAP_RATIO.powi(self.0)
    }
}

/// What is beside a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Beside {
    /// Poured copper of a supply or ground: the nearer side's gap, and whether it is on both sides.
    pub(super) pour: Option<(Gap, bool)>,
    /// The other net of the pair. With it, `pour` is what is on the outer sides.
    pub(super) mate: Option<Gap>,
}

impl Beside {
    /// How many steps of rounding the gaps are apart; `None` unless there are the same things.
    pub(super) fn apart(&self, other: &Self) -> Option<u32> {
        let mates = match (self.mate, other.mate) {
            (None, None) => 0,
            (Some(x), Some(y)) => x.0.abs_diff(y.0),
            _ => return None,
        };
        let pours = match (self.pour, other.pour) {
            (None, None) => 0,
            (Some((x, on_both)), Some((y, also))) if on_both == also => x.0.abs_diff(y.0),
            _ => return None,
        };
        Some(mates + pours)
    }
}

/// A part of a line, 0 to 1, and what is beside it.
pub(super) struct Part {
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) beside: Beside,
}

/// Looks beside a line of some width, between two places of it.
pub(super) struct Look<'a> {
    pub(super) scope: &'a Scope<'a>,
    pub(super) net: NetId,
    pub(super) layer: LayerId,
    pub(super) mate: Option<NetId>,
    /// Above the nearest plane, in mm.
    pub(super) height: f64,
}

impl Look<'_> {
    /// The parts of `line` between `from` and `to`.
    pub(super) fn parts(&self, line: &Segment, width: f64, from: f64, to: f64) -> Vec<Part> {
        let whole_part = |beside| vec![Part { from, to, beside }];
        let has_pours = self.scope.planes.area(self.layer) > 0.0;
        let mates = self.mates(line, width);
        if !has_pours && mates.is_empty() {
            return whole_part(Beside::default());
        }
        let length = line.length() * (to - from);
        let count = steps(length, STEP_MM).clamp(1, PLACES_MAX);
        let step = (to - from) / count as f64;
        let mut parts: Vec<Part> = Vec::new();
        for index in 0..count {
            let begin = from + step * index as f64;
            let beside = self.beside(line, width, line.at(begin + 0.5 * step), &mates);
            match parts.last_mut() {
                Some(last) if last.beside == beside => last.to = begin + step,
                _ => parts.push(Part {
                    from: begin,
                    to: begin + step,
                    beside,
                }),
            }
        }
        if let Some(last) = parts.last_mut() {
            last.to = to;
        }
        parts
    }

    fn reach(&self) -> f64 {
        (REACH_HEIGHTS * self.height).min(REACH_MM_MAX)
    }

    /// The tracks of the other net of the pair that run along the line, with their widths.
    fn mates(&self, line: &Segment, width: f64) -> Vec<(Segment, f64)> {
        let Some(mate) = self.mate else {
            return Vec::new();
        };
        let along = line.b - line.a;
        let is_parallel = |other: &Segment| {
            let way = other.b - other.a;
            let lengths = line.length() * other.length();
            along.cross(way).abs() <= SINE_MAX * lengths && 0.0 < lengths
        };
        let reach = self.reach() + width;
        let near = self.scope.contacts.tracks_along(self.layer, line, reach);
        near.into_iter()
            .map(|index| &self.scope.board.tracks[index])
            .filter(|track| track.net == mate && is_parallel(&track.line))
            .map(|track| (track.line, track.width))
            .collect()
    }

    fn beside(&self, line: &Segment, width: f64, at: Point, mates: &[(Segment, f64)]) -> Beside {
        let reach = self.reach();
        let gaps = mates.iter().map(|(other, other_width)| {
            let gap = other.distance(at) - 0.5 * (width + other_width);
            (gap, other)
        });
        let nearest = gaps
            .filter(|(gap, _)| *gap <= reach)
            .min_by(|x, y| x.0.total_cmp(&y.0));
        let along = (line.b - line.a) * (1.0 / line.length().max(1e-9));
        let across = Point::new(-along.y, along.x);
        let side_of_mate = nearest.map(|(_, other)| across.dot(other.a - at) > 0.0);
        let side = |is_left: bool| {
            let away = if is_left { across } else { across * -1.0 };
            let ray = Segment::new(at + away * (0.5 * width), at + away * (0.5 * width + reach));
            self.pour_on(&ray)
        };
        let (left, right) = (
            side_of_mate.is_none_or(|left| !left).then(|| side(true)),
            side_of_mate.is_none_or(|left| left).then(|| side(false)),
        );
        let pour = match (left.flatten(), right.flatten()) {
            (Some(left), Some(right)) => Some((Gap::of(left.min(right)), true)),
            (Some(one), None) | (None, Some(one)) => Some((Gap::of(one), false)),
            (None, None) => None,
        };
        Beside {
            pour,
            mate: nearest.map(|(gap, _)| Gap::of(gap)),
        }
    }

    /// How far along a ray poured copper begins, in mm.
    fn pour_on(&self, ray: &Segment) -> Option<f64> {
        let scope = self.scope;
        let begin = scope
            .planes
            .begin_on(scope.board, self.layer, ray, self.net)?;
        Some(begin * ray.length())
    }
}
