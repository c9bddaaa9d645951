//! How much common-mode current a cable may carry.

use serde::Serialize;

use crate::fields::Estimate;
use crate::fields::constants::volts_per_m;
use crate::fields::input::InputError;
use crate::fields::limits::{Limit, Table};
use crate::fields::wire::{CableEmission, Scan, Stop, Wire, WireError};

/// Printed with every budget.
pub const CABLE_NOTE: &str = "The current that a current clamp may find on the cable for its field to equal the limit, \
     with nothing else radiating. Real cables hang differently and carry less field at one place and more at another.";

/// What a cable may carry at one frequency.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Budget {
    /// Frequency.
    pub frequency_hz: f64,
    /// The strictest limit there.
    pub limit: Limit,
    /// Greatest current along the cable in A (rms) for its field to equal the limit.
    pub permitted_a: f64,
    /// Voltage in V (rms) between board and cable that drives it.
    pub permitted_v: f64,
}

/// Why there is no budget.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum BudgetError {
    /// The wire cannot be solved.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// Frequency or distance.
    #[error(transparent)]
    Input(#[from] InputError),
}

/// The budget of `wire` at each of `frequencies_hz` that `table` has a limit for.
pub fn budget(
    wire: &Wire,
    frequencies_hz: &[f64],
    scan: &Scan,
    table: &Table,
    stop: Stop,
) -> Result<Vec<Estimate<Budget>>, BudgetError> {
    let mut limited = Vec::new();
    for frequency in frequencies_hz {
        let limits = table.limits(*frequency, scan.distance_m)?;
        let strictest = limits
            .into_iter()
            .min_by(|a, b| a.dbuv_per_m.total_cmp(&b.dbuv_per_m));
        limited.extend(strictest.map(|limit| (*frequency, limit)));
    }
    let frequencies: Vec<f64> = limited.iter().map(|(frequency, _)| *frequency).collect();
    let emissions = wire.sweep(&frequencies, scan, stop)?;
    let of_one = |(emission, (frequency_hz, limit)): (Estimate<CableEmission>, (f64, Limit))| {
        let level = volts_per_m(limit.dbuv_per_m);
        let value = Budget {
            frequency_hz,
            limit,
            permitted_a: emission.value.permitted_current(level),
            permitted_v: level / emission.value.peak.volts_per_m,
        };
        Estimate {
            value,
            method: emission.method,
            outside: emission.outside,
        }
    };
    Ok(emissions.into_iter().zip(limited).map(of_one).collect())
}
