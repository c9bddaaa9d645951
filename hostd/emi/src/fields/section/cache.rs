//! Solved sections by geometry, shared by threads.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Above, Matrices, Section, SectionError, Trace};
use crate::fields::Estimate;
use crate::fields::line::Line;
use crate::fields::wire::Stop;

/// Most sections that are kept of each kind, about 1 kB each. When it is full, further ones are solved every time.
const ENTRIES_MAX: usize = 10_000;

/// Lengths are rounded to this before solving, far below any tolerance of copper.
const STEP_M: f64 = 1e-9;

/// Permittivities are rounded to this.
const PERMITTIVITY_STEP: f64 = 1e-6;

type Map<T> = HashMap<Vec<u64>, Result<Arc<T>, SectionError>>;

type Kept<T> = Mutex<Map<T>>;

type Solved = Result<Arc<Estimate<Matrices>>, SectionError>;

type Odd = Result<Arc<Estimate<Option<Line>>>, SectionError>;

/// Solved sections, found again by their measures rounded to a nanometre.
///
/// The rounded section is what is solved, so a result never depends on which of several threads came first.
#[derive(Debug, Default)]
pub struct Cache {
    solved: Kept<Estimate<Matrices>>,
    /// Those of which only the odd mode is known.
    odd: Kept<Estimate<Option<Line>>>,
}

impl Cache {
    /// What [`Section::solve`] finds for `section`, rounded and moved to the origin.
    pub fn solve(&self, section: &Section) -> Solved {
        self.solve_unless(section, &|| false)
    }

    /// As [`solve`](Self::solve), until `stop` says so.
    pub fn solve_unless(&self, section: &Section, stop: Stop<'_>) -> Solved {
        let section = rounded(section);
        kept(&self.solved, &section, || section.solve_unless(stop))
    }

    /// What [`Section::odd_unless`] finds, likewise.
    pub fn odd_unless(&self, section: &Section, stop: Stop<'_>) -> Odd {
        let section = rounded(section);
        kept(&self.odd, &section, || section.odd_unless(stop))
    }

    /// How many sections are kept.
    pub fn len(&self) -> usize {
        lock(&self.solved).len() + lock(&self.odd).len()
    }

    /// Whether no section is kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What is kept of `section`, or else what `solve` finds.
fn kept<T>(
    all: &Kept<T>,
    section: &Section,
    solve: impl FnOnce() -> Result<T, SectionError>,
) -> Result<Arc<T>, SectionError> {
    let key = key(section);
    let known = lock(all).get(&key).cloned();
    known.unwrap_or_else(|| {
        let solved = solve().map(Arc::new);
        let mut all = lock(all);
        let is_stopped = matches!(solved, Err(SectionError::Stopped));
        if all.len() < ENTRIES_MAX && !is_stopped {
            all.insert(key, solved.clone());
        }
        solved
    })
}

fn lock<T>(all: &Kept<T>) -> MutexGuard<'_, Map<T>> {
    all.lock().unwrap_or_else(PoisonError::into_inner)
}

fn rounded(section: &Section) -> Section {
    let length = |value: f64| (value / STEP_M).round() * STEP_M;
    let permittivity = |value: f64| (value / PERMITTIVITY_STEP).round() * PERMITTIVITY_STEP;
    let origin = section.traces.first().map_or(0.0, |trace| trace.left_m);
    Section {
        traces: section
            .traces
            .iter()
            .map(|trace| Trace {
                left_m: length(trace.left_m - origin),
                width_m: length(trace.width_m),
            })
            .collect(),
        thickness_m: length(section.thickness_m),
        height_m: length(section.height_m),
        permittivity: permittivity(section.permittivity),
        above: match section.above {
            Above::Air => Above::Air,
            Above::Mask {
                thickness_m,
                permittivity: of_mask,
            } => Above::Mask {
                thickness_m: length(thickness_m),
                permittivity: permittivity(of_mask),
            },
            Above::Plane {
                height_m,
                permittivity: of_layer,
            } => Above::Plane {
                height_m: length(height_m),
                permittivity: permittivity(of_layer),
            },
        },
        coplanar_gap_m: section.coplanar_gap_m.map(length),
    }
}

fn key(section: &Section) -> Vec<u64> {
    let above = match section.above {
        Above::Air => [0.0, 0.0, 0.0],
        Above::Mask {
            thickness_m,
            permittivity,
        } => [1.0, thickness_m, permittivity],
        Above::Plane {
            height_m,
            permittivity,
        } => [2.0, height_m, permittivity],
    };
    let fixed = [
        section.thickness_m,
        section.height_m,
        section.permittivity,
        section.coplanar_gap_m.unwrap_or(-1.0),
    ];
    let traces = section
        .traces
        .iter()
        .flat_map(|trace| [trace.left_m, trace.width_m]);
    // Adding zero turns −0 into 0.
    fixed
        .into_iter()
        .chain(above)
        .chain(traces)
        .map(|value| (value + 0.0).to_bits())
        .collect()
}
