//! Lines of the mesh: one at every edge that matters, steps that grow with the distance to them, and no more cells than are
//! allowed.

use super::scene::Scene;
use super::{CELLS_MAX, ModelError};
use crate::fields::constants::LIGHT_SPEED;

/// Steps of the shortest wavelength in the insulation, at least.
const PER_WAVELENGTH: f64 = 20.0;

/// Steps across the narrowest track, at first.
const ACROSS_TRACK: f64 = 4.0;

/// Each step is at most so much longer than the distance to the next edge allows.
const GROWTH: f64 = 0.3;

/// Steps through each slab of insulation.
const THROUGH_SLAB: u32 = 4;

/// Air above and below the board, in mm.
const AIR_MM: f64 = 6.0;

/// Edges that are nearer to each other than this part of the finest step are one.
const MERGED: f64 = 0.5;

/// How often the finest step is doubled before a net is too large.
const COARSER_MAX: u32 = 3;

/// Most lines along one axis.
const LINES_MAX: usize = 4_000;

/// Lines along each axis, in mm.
pub(super) struct Mesh {
    pub(super) x: Vec<f64>,
    pub(super) y: Vec<f64>,
    pub(super) z: Vec<f64>,
}

impl Mesh {
    pub(super) fn of(scene: &Scene, highest_hz: f64) -> Result<Self, ModelError> {
        let densest = scene.slabs.iter().map(|slab| slab.epsilon_r);
        let densest = densest.fold(1.0, f64::max);
        let longest = LIGHT_SPEED * 1e3 / (highest_hz * densest.sqrt()) / PER_WAVELENGTH;
        let z = Self::heights(scene, longest);
        let mut fine = (scene.narrowest / ACROSS_TRACK).min(longest);
        let mut cells = 0;
        for _ in 0..=COARSER_MAX {
            let (x, y) = (&scene.edges.0, &scene.edges.1);
            let core = scene.core;
            let x = lines(
                (scene.region.min.x, scene.region.max.x),
                x,
                (core.min.x, core.max.x),
                fine,
                longest,
            );
            let y = lines(
                (scene.region.min.y, scene.region.max.y),
                y,
                (core.min.y, core.max.y),
                fine,
                longest,
            );
            let mesh = Self { x, y, z: z.clone() };
            cells = mesh.cells();
            if cells <= CELLS_MAX {
                return Ok(mesh);
            }
            fine = (2.0 * fine).min(longest);
        }
        Err(ModelError::TooLarge(cells))
    }

    pub(super) fn cells(&self) -> usize {
        let counts = [&self.x, &self.y, &self.z].map(|axis| axis.len().saturating_sub(1));
        counts.into_iter().fold(1, usize::saturating_mul)
    }

    /// How many time steps let a wave go to and fro ten times, after the pulse.
    pub(super) fn steps(&self, scene: &Scene, highest_hz: f64) -> u64 {
        let least = |axis: &[f64]| {
            let steps = axis.windows(2).map(|pair| pair[1] - pair[0]);
            steps.fold(f64::INFINITY, f64::min) / 1e3
        };
        let square = |step: f64| 1.0 / (step * step);
        let sum = square(least(&self.x)) + square(least(&self.y)) + square(least(&self.z));
        let step = 1.0 / (LIGHT_SPEED * sum.sqrt());
        let way = 20.0 * 2.0 * (scene.core.width() + scene.core.height()) / 1e3;
        let seconds = 10.0 / highest_hz + way / LIGHT_SPEED * 2.0;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "casts of floats saturate"
        )]
        let steps = (seconds / step).ceil() as u64;
        steps.max(5_000)
    }

    fn heights(scene: &Scene, longest: f64) -> Vec<f64> {
        let mut lines: Vec<f64> = Vec::new();
        for slab in &scene.slabs {
            let (low, high) = slab.z;
            let step = (high - low) / f64::from(THROUGH_SLAB);
            lines.extend((0..=THROUGH_SLAB).map(|index| low + step * f64::from(index)));
        }
        if lines.is_empty() {
            lines.push(0.0);
        }
        lines.sort_by(f64::total_cmp);
        lines.dedup_by(|x, y| (*x - *y).abs() < 1e-4);
        let (low, high) = (lines[0], lines[lines.len() - 1]);
        let mut step = (high - low).max(0.1) / f64::from(THROUGH_SLAB * 2);
        let mut away = 0.0;
        while away < AIR_MM {
            step = (step * (1.0 + GROWTH)).min(longest);
            away += step;
            lines.extend([low - away, high + away]);
        }
        lines.sort_by(f64::total_cmp);
        lines
    }
}

/// Lines between two borders: at the edges, and as many between them as the steps allow.
fn lines(
    (from, to): (f64, f64),
    edges: &[f64],
    core: (f64, f64),
    fine: f64,
    longest: f64,
) -> Vec<f64> {
    let inside = edges.iter().copied().filter(|x| from < *x && *x < to);
    let mut fixed: Vec<f64> = inside.chain([from, to]).collect();
    fixed.sort_by(f64::total_cmp);
    let mut kept: Vec<f64> = Vec::with_capacity(fixed.len());
    for x in fixed {
        if kept.last().is_none_or(|last| MERGED * fine < x - last) {
            kept.push(x);
        }
    }
    // The border must be the border.
    if let Some(last) = kept.last_mut() {
        *last = to;
    }
    let allowed = |x: f64| {
        let outside = (core.0 - x).max(x - core.1).max(0.0);
        (fine + GROWTH * outside).min(longest)
    };
    let mut all = Vec::new();
    for pair in kept.windows(2) {
        let mut x = pair[0];
        all.push(x);
        while all.len() < LINES_MAX {
            // The longer of the steps at both ends would be too long at the other one.
            let step = allowed(x).min(allowed((x + allowed(x)).min(pair[1])));
            let rest = pair[1] - x;
            if rest <= 1.5 * step {
                break;
            }
            x += if rest < 3.0 * step { rest / 2.0 } else { step };
            all.push(x);
        }
    }
    all.push(to);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_rise_meet_the_edges_and_are_nowhere_too_far_apart() {
        let edges = [3.0, 3.2, 3.2 + 1e-9, 7.0];
        let found = lines((0.0, 20.0), &edges, (3.0, 7.0), 0.1, 1.5);
        assert!(found.windows(2).all(|pair| pair[0] < pair[1]));
        for edge in [0.0, 3.0, 3.2, 7.0, 20.0] {
            assert!(found.iter().any(|x| (x - edge).abs() < 1e-6), "{edge}");
        }
        for pair in found.windows(2) {
            let step = pair[1] - pair[0];
            assert!(step <= 1.5 * 1.5 && 0.04 < step, "{step}");
            if 3.0 <= pair[0] && pair[1] <= 7.0 {
                assert!(step <= 0.151, "{step} at {}", pair[0]);
            }
        }
        let many: Vec<f64> = (0..100_000).map(|i| f64::from(i) * 1e-3).collect();
        assert!(
            lines((0.0, 100.0), &many, (0.0, 100.0), 1e-4, 1.0).len() <= LINES_MAX + many.len()
        );
    }
}
