//! Solved sections by geometry, shared by threads.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::{Above, Matrices, Section, SectionError, Trace};
use crate::fields::Estimate;
use crate::fields::wire::Stop;

/// Most sections that are kept, about 1 kB each. When it is full, further ones are solved every time.
const ENTRIES_MAX: usize = 10_000;

/// Lengths are rounded to this before solving, far below any tolerance of copper.
const STEP_M: f64 = 1e-9;

/// Permittivities are rounded to this.
const PERMITTIVITY_STEP: f64 = 1e-6;

type Solved = Result<Arc<Estimate<Matrices>>, SectionError>;

/// Solved sections, found again by their measures rounded to a nanometre.
///
/// The rounded section is what is solved, so a result never depends on which of several threads came first.
#[derive(Debug, Default)]
pub struct Cache {
    solved: Mutex<HashMap<Vec<u64>, Solved>>,
}

impl Cache {
    /// What [`Section::solve`] finds for `section`, rounded and moved to the origin.
    pub fn solve(&self, section: &Section) -> Solved {
        self.solve_unless(section, &|| false)
    }

    /// As [`solve`](Self::solve), until `stop` says so.
    pub fn solve_unless(&self, section: &Section, stop: Stop<'_>) -> Solved {
        let section = rounded(section);
        let key = key(&section);
        let known = self.lock().get(&key).cloned();
        known.unwrap_or_else(|| {
            let solved = section.solve_unless(stop).map(Arc::new);
            let mut all = self.lock();
            if all.len() < ENTRIES_MAX && solved != Err(SectionError::Stopped) {
                all.insert(key, solved.clone());
            }
            solved
        })
    }

    /// How many sections are kept.
    pub fn len(&self) -> usize {
        self.lock().len()
    }

    /// Whether no section is kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Vec<u64>, Solved>> {
        self.solved.lock().unwrap_or_else(PoisonError::into_inner)
    }
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
