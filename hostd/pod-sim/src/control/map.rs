//! The input map of the control loop: from raw ADC counts to points of the curve, as the gateware
//! computes it.

use serde_json::{Map, Value, json};

use super::TABLE;
use crate::args::Args;
use crate::board::Fit;
use crate::refuse::Refuse;

/// Fractional bits of the gain.
const GAIN_SHIFT: u32 = 15;
const GAIN_MAX: f64 = 32_767.0;

/// Windows from this many volts on are refused: half of the ADC's circle.
const SPAN_V_MAX: f64 = 32.0;

/// Largest number in a map.
const NUMBER_MAX: f64 = 1e9;

/// The last entry of the table.
const LAST: i32 = 2047;

/// Table index of a count: ((count − zero) · gain) >> 15, clamped to the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct InputMap {
    zero: u16,
    gain: i32,
    /// The entry at the upper end of the range.
    idx_max: i32,
    /// Above this entry the loop trips; −1 means never.
    trip_idx: i32,
}

impl InputMap {
    /// Reads a map; `fit` is the fit of the ADC input.
    pub(crate) fn from_args(args: &Args<'_>, fit: Fit) -> Result<Option<Self>, Refuse> {
        let Some(mv_per_unit) = number(args, "in_mv_per_unit")? else {
            return Ok(None);
        };
        if mv_per_unit <= 0.0 {
            return Err(Refuse::Bad {
                field: "in_mv_per_unit",
                want: "more than 0",
            });
        }
        let end = |field| number(args, field)?.ok_or(Refuse::Missing { field });
        let (low, high) = (end("in_min")?, end("in_max")?);
        if high <= low {
            return Err(Refuse::Bad {
                field: "in_max",
                want: "more than in_min",
            });
        }
        let trip = number(args, "in_trip")?;
        if trip.is_some_and(|trip| trip <= low) {
            return Err(Refuse::Bad {
                field: "in_trip",
                want: "more than in_min",
            });
        }
        let volts_per_unit = mv_per_unit / 1e3;
        let at_zero = number(args, "in_mv_at_zero")?.unwrap_or(0.0) / 1e3;
        let top = trip.map_or(high, |trip| trip.max(high));
        if (top - low) * volts_per_unit > SPAN_V_MAX {
            return Err(Refuse::Bad {
                field: "in_max",
                want: "a window of at most 32 V",
            });
        }
        let zero_v = at_zero + low * volts_per_unit;
        let counts = |units: f64| (units - low) * volts_per_unit / fit.b.abs();
        // A trip beyond the curve still needs a table entry above the curve's last one.
        let last = f64::from(LAST - i32::from(trip.is_some()));
        let scale = (last / counts(top).max(1.0) * f64::from(1 << GAIN_SHIFT)).min(GAIN_MAX);
        let entry = |units: f64| whole(counts(units) * scale / f64::from(1 << GAIN_SHIFT));
        Ok(Some(Self {
            zero: fit.count(zero_v),
            gain: whole(scale) * if fit.b < 0.0 { -1 } else { 1 },
            idx_max: entry(high).clamp(1, LAST),
            trip_idx: trip.map_or(-1, |trip| entry(trip).clamp(0, LAST)),
        }))
    }

    fn index(&self, count: u16) -> u16 {
        let distance = i32::from(count.wrapping_sub(self.zero).cast_signed());
        let index = (distance * self.gain) >> GAIN_SHIFT;
        u16::try_from(index.clamp(0, LAST)).expect("clamped to the table")
    }

    /// The curve's input for a count.
    pub(crate) fn input(&self, count: u16) -> u16 {
        self.index(count) << 5
    }

    pub(crate) fn has_trip(&self) -> bool {
        self.trip_idx >= 0
    }

    /// Whether a count is over range.
    pub(crate) fn trips(&self, count: u16) -> bool {
        self.has_trip() && i32::from(self.index(count)) > self.trip_idx
    }

    /// Number of table entries over which the curve is spread.
    pub(crate) fn entries(&self) -> usize {
        usize::try_from(self.idx_max + 1).map_or(TABLE, |entries| entries.min(TABLE))
    }

    /// Adds the map's numbers to a reply.
    pub(crate) fn report(&self, reply: &mut Map<String, Value>) {
        reply.insert("in_zero".to_owned(), json!(self.zero));
        reply.insert("in_gain".to_owned(), json!(self.gain));
        reply.insert("idx_max".to_owned(), json!(self.idx_max));
        reply.insert("trip_idx".to_owned(), json!(self.trip_idx));
    }
}

/// A number in the range of sensor readings.
fn number(args: &Args<'_>, field: &'static str) -> Result<Option<f64>, Refuse> {
    match args.number(field)? {
        Some(number) if number.abs() > NUMBER_MAX => Err(Refuse::Bad {
            field,
            want: "at most a thousand million",
        }),
        number => Ok(number),
    }
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "entries and gains are below 2^16"
)]
fn whole(value: f64) -> i32 {
    value.round() as i32
}
