//! Limits of the DAC's output, which protect the circuit that is connected to one of its outputs.
//!
//! The DAC has one code for all outputs, so while limits are set it stays within them, whatever is
//! routed. `dac_stop` and every start put it at the end at which the connected stage outputs least.

use serde_json::{Value, json};

use super::args::Args;
use super::board::{Board, OutputPath};
use super::refuse::Refuse;

/// Limits in the form in which they are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    pub(crate) path: OutputPath,
    /// The connected stage outputs most at the lowest voltage.
    pub(crate) inverted: bool,
    pub(crate) min_mv: i32,
    pub(crate) max_mv: i32,
}

impl Limits {
    pub(crate) fn park_mv(self) -> i32 {
        if self.inverted {
            self.max_mv
        } else {
            self.min_mv
        }
    }

    pub(crate) fn report(self) -> Value {
        json!({"enabled": true, "path": self.path.name(), "inverted": self.inverted,
            "min_mv": self.min_mv, "max_mv": self.max_mv})
    }
}

/// Limits as requested.
pub(crate) fn from_args(board: Board, path: &str, args: &Args<'_>) -> Result<Limits, Refuse> {
    let path = OutputPath::from_name(path).ok_or(Refuse::Bad {
        field: "path",
        want: "3v3, 5v or 12v",
    })?;
    let fit = path.built_in(board);
    let (low_mv, high_mv) = (milli(fit.code_volts(0)), milli(fit.code_volts(u16::MAX)));
    let end = |field| {
        args.int(field, low_mv.min(0)..=high_mv)?
            .ok_or(Refuse::Missing { field })
    };
    let (min_mv, max_mv) = (end("min_mv")?, end("max_mv")?);
    if min_mv > max_mv {
        return Err(Refuse::Bad {
            field: "min_mv",
            want: "at most max_mv",
        });
    }
    let narrow = |mv: i64| i32::try_from(mv).expect("within the output's range");
    Ok(Limits {
        path,
        inverted: args.flag("inverted")?.unwrap_or(false),
        min_mv: narrow(min_mv),
        max_mv: narrow(max_mv),
    })
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "volts of an output in mV are far below 2^53"
)]
fn milli(volts: f64) -> i64 {
    (volts * 1e3).round() as i64
}

#[cfg(test)]
mod tests;
