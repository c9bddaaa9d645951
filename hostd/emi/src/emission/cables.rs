//! What declared cables may carry for their field to equal the limit.

use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;
use serde::Serialize;

use crate::fields::Estimate;
use crate::fields::emission::{Budget, BudgetError, budget};
use crate::fields::wire::{Scan, Wire, WireError};
use crate::observer::{Cancelled, Stage};
use crate::rules::{Context, EMISSION_CM};
use crate::settings::Cable;

/// What a cable may carry.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CableBudget {
    /// The connector's reference.
    pub connector: String,
    /// As declared, in m.
    pub length_m: f64,
    /// As it hangs on the test table, in m: what is longer is bundled.
    pub laid_m: f64,
    /// As declared.
    pub shielded: bool,
    /// As declared: what flows along it, in A (rms).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub common_mode_a: Option<f64>,
    /// As declared: what drives it against the board, in V (rms).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub common_mode_v: Option<f64>,
    /// The least margin of all lines at which the solver holds; left out where neither current nor voltage is declared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub smallest_margin_db: Option<f64>,
    /// By frequency.
    pub lines: Vec<CableLine>,
}

/// What a cable may carry at one frequency.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CableLine {
    /// Frequency in Hz.
    pub frequency_hz: f64,
    /// The strictest limit in dB above 1 µV/m.
    pub limit_dbuv_per_m: f64,
    /// Greatest current along the cable in A (rms) for its field to equal the limit.
    pub permitted_a: f64,
    /// Voltage in V (rms) between board and cable that drives it.
    pub permitted_v: f64,
    /// How far what is declared stays below that, in dB: the less of current and voltage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub margin_db: Option<f64>,
    /// Whether the solver holds there.
    pub valid: bool,
}

/// Most frequencies of a cable.
const FREQUENCIES_MAX: usize = 32;

/// Frequencies where no clock is declared.
const GRID: u32 = 24;

/// Where limits of radiated emission begin and where cables stop being what radiates most, in Hz.
const RANGE_HZ: RangeInclusive<f64> = 30e6..=1e9;

/// Height of the test table, in m.
const TABLE_M: f64 = 0.8;

/// How much of a cable is on the table, in m.
const ON_TABLE_M: f64 = 1.0;

/// How far a cable hangs down at most, in m.
const HANGING_M: f64 = 0.4;

/// Radius of a cable, in m.
const RADIUS_M: f64 = 1e-3;

/// Budgets of all cables at connectors of the board, and what keeps others from having one.
pub(super) fn budgets(context: &Context<'_>) -> Result<(Vec<CableBudget>, Vec<String>), Cancelled> {
    let (known, unknown): (Vec<&Cable>, Vec<&Cable>) = context
        .settings
        .cables()
        .iter()
        .partition(|cable| context.part_named(&cable.connector).is_some());
    let mut missing: Vec<String> = unknown
        .iter()
        .map(|cable| {
            format!(
                "the cable at `{}` is at no part of this board",
                cable.connector
            )
        })
        .collect();
    // Cables that hang alike are solved once.
    let mut hanging: Vec<Hanging> = known.iter().map(|cable| Hanging::of(cable)).collect();
    hanging.sort_by(|x, y| x.laid_m().total_cmp(&y.laid_m()));
    hanging.dedup();
    let frequencies = frequencies(context);
    let done = AtomicUsize::new(0);
    let solved = hanging.par_iter().map(|one| {
        context.go_on()?;
        let lines = lines(context, one, &frequencies)?;
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        context.watch.advance(Stage::Emission, done, hanging.len());
        Ok((*one, lines))
    });
    let solved: Vec<(Hanging, Result<Vec<CableLine>, String>)> =
        solved.collect::<Result<_, Cancelled>>()?;
    let mut budgets = Vec::new();
    for cable in known {
        let own = Hanging::of(cable);
        match solved.iter().find(|(hanging, _)| *hanging == own) {
            Some((_, Ok(lines))) => budgets.push(CableBudget::of(cable, &own, lines)),
            Some((_, Err(why))) => {
                missing.push(format!("the cable at `{}`: {why}", cable.connector));
            }
            None => {}
        }
    }
    budgets.sort_by(|x, y| x.connector.cmp(&y.connector));
    Ok((budgets, missing))
}

/// What a cable that hangs so may carry, or why nobody knows.
fn lines(
    context: &Context<'_>,
    hanging: &Hanging,
    frequencies: &[f64],
) -> Result<Result<Vec<CableLine>, String>, Cancelled> {
    let site = context.settings.site();
    let scan = Scan::mast([0.0, 0.0], site.distance_m());
    let stop = || context.is_stopped();
    let wire = hanging.wire(context.bounds.width().max(context.bounds.height()) / 1e3);
    match budget(&wire, frequencies, &scan, site.table(), &stop) {
        Ok(found) => Ok(Ok(found.iter().map(CableLine::of).collect())),
        Err(BudgetError::Wire(WireError::Stopped)) => Err(Cancelled),
        Err(error) => Ok(Err(error.to_string())),
    }
}

impl CableBudget {
    fn of(cable: &Cable, hanging: &Hanging, lines: &[CableLine]) -> Self {
        let lines: Vec<CableLine> = lines.iter().map(|line| line.against(cable)).collect();
        let valid = lines.iter().filter(|line| line.valid);
        Self {
            connector: cable.connector.clone(),
            length_m: cable.length_m,
            laid_m: hanging.laid_m(),
            shielded: cable.shielded,
            common_mode_a: cable.common_mode_a,
            common_mode_v: cable.common_mode_v,
            smallest_margin_db: valid.filter_map(|l| l.margin_db).min_by(f64::total_cmp),
            lines,
        }
    }
}

/// What a table of cables assumes, for people: site, cable and highest frequency, as the rule says it.
pub(super) fn assumed(context: &Context<'_>) -> Vec<String> {
    context.assumed(&EMISSION_CM)
}

impl CableLine {
    /// With the margin of what is declared.
    fn against(self, cable: &Cable) -> Self {
        let of = |permitted: f64, declared: Option<f64>| {
            declared.map(|declared| 20.0 * (permitted / declared).log10())
        };
        let margins = [
            of(self.permitted_a, cable.common_mode_a),
            of(self.permitted_v, cable.common_mode_v),
        ];
        Self {
            margin_db: margins.into_iter().flatten().min_by(f64::total_cmp),
            ..self
        }
    }

    fn of(found: &Estimate<Budget>) -> Self {
        Self {
            frequency_hz: found.value.frequency_hz,
            limit_dbuv_per_m: found.value.limit.dbuv_per_m,
            permitted_a: found.value.permitted_a,
            permitted_v: found.value.permitted_v,
            margin_db: None,
            valid: !found.outside_validity(),
        }
    }
}

/// Harmonics of the clocks on the board, thinned evenly if they are many; without clocks, steps of equal ratio.
fn frequencies(context: &Context<'_>) -> Vec<f64> {
    let (low, high) = (*RANGE_HZ.start(), *RANGE_HZ.end());
    let highest = context.settings.max_frequency_hz().0.min(high);
    let mut found = Vec::new();
    for (_, clock) in &context.clocks {
        let first = (low / clock.hz).ceil();
        let count = ((highest / clock.hz).floor() - first + 1.0).max(0.0);
        // No more than are kept of one clock: a slow clock has a million of them.
        let step = (count / FREQUENCIES_MAX as f64).ceil().max(1.0);
        let harmonics = (0..FREQUENCIES_MAX)
            .map(|index| first + step * index as f64)
            .take_while(|order| *order < first + count);
        found.extend(harmonics.map(|order| order * clock.hz));
    }
    if context.clocks.is_empty() && low <= highest {
        let ratio = (highest / low).ln() / f64::from(GRID - 1);
        found.extend((0..GRID).map(|index| low * (ratio * f64::from(index)).exp()));
    }
    found.sort_by(f64::total_cmp);
    found.dedup();
    let step = found.len().div_ceil(FREQUENCIES_MAX).max(1);
    found.into_iter().step_by(step).collect()
}

/// How a cable hangs on a test table: along the table, then down.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Hanging {
    along_m: f64,
    down_m: f64,
}

impl Hanging {
    fn of(cable: &Cable) -> Self {
        let down = (cable.length_m - ON_TABLE_M).clamp(0.0, HANGING_M);
        Self {
            along_m: cable.length_m.min(ON_TABLE_M),
            // A piece that is shorter than it is thick is none.
            down_m: if 10.0 * RADIUS_M < down { down } else { 0.0 },
        }
    }

    fn laid_m(&self) -> f64 {
        self.along_m + self.down_m
    }

    /// With a board of that size at its end, as a straight leg.
    fn wire(&self, board_m: f64) -> Wire {
        let leg = if board_m.is_finite() {
            board_m.clamp(0.02, 0.5)
        } else {
            0.02
        };
        let mut points_m = vec![
            [-leg, 0.0, TABLE_M],
            [0.0, 0.0, TABLE_M],
            [self.along_m, 0.0, TABLE_M],
        ];
        if 0.0 < self.down_m {
            points_m.push([self.along_m, 0.0, TABLE_M - self.down_m]);
        }
        Wire {
            points_m,
            radius_m: RADIUS_M,
            source: 1,
            loads: Vec::new(),
            floor: true,
        }
    }
}
