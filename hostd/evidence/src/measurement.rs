//! Numbers with limits: what a step or a test measured, and what many of them come to.

mod lines;
mod statistics;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use lines::{WrongLine, read};
pub use statistics::{Statistics, Tally};

/// Measurements of one run. What comes behind them is refused.
pub const COUNT_MAX: usize = 1000;

/// Longest name of one, in characters.
pub const NAME_CHARS_MAX: usize = 120;

/// Longest unit, in characters.
pub const UNIT_CHARS_MAX: usize = 20;

/// Longest serial number of a board, in characters.
pub const SERIAL_CHARS_MAX: usize = 64;

/// Greatest size of a value and of a limit: sums of squares of them are still numbers.
pub const VALUE_MAX: f64 = 1e100;

/// Bytes of the file that a step writes.
pub const FILE_BYTES_MAX: usize = 1 << 20;

/// Measurements of a run that reports show; those that failed come first.
pub const TOLD_MAX: usize = 100;

/// Digits of a value that people are shown.
const DIGITS: usize = 9;

/// A value that was measured. No number is greater than [`VALUE_MAX`] in size, and `low` is not above `high`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// What was measured.
    pub name: String,
    /// The value, in `unit`.
    pub value: f64,
    /// Its unit; empty if it has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub unit: String,
    /// The lowest value that passes, itself included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// The highest value that passes, itself included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// Serial number of the board that was measured, if a step named it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub serial: Option<String>,
}

impl Measurement {
    /// Whether the value is within its limits.
    #[must_use]
    pub fn is_within(&self) -> bool {
        is_within(self.value, self.low, self.high)
    }

    /// The value with its unit, and the limits if it has some: `3.31 V (3.2 V to 3.4 V)`.
    #[must_use]
    pub fn told(&self) -> String {
        let value = self.with_unit(self.value);
        match self.limits() {
            Some(limits) => format!("{value} ({limits})"),
            None => value,
        }
    }

    /// The value with its unit: `3.31 V`.
    #[must_use]
    pub fn value_told(&self) -> String {
        self.with_unit(self.value)
    }

    /// The limits with their unit; none if it has none.
    #[must_use]
    pub fn limits(&self) -> Option<String> {
        match (self.low, self.high) {
            (None, None) => None,
            (Some(low), None) => Some(format!("at least {}", self.with_unit(low))),
            (None, Some(high)) => Some(format!("at most {}", self.with_unit(high))),
            (Some(low), Some(high)) => Some(format!(
                "{} to {}",
                self.with_unit(low),
                self.with_unit(high)
            )),
        }
    }

    /// A number with the unit. Where rounding would hide on which side of a limit the value is, nothing is rounded.
    fn with_unit(&self, number: f64) -> String {
        let looks_like = |limit: Option<f64>| {
            limit.is_some_and(|limit| {
                limit.to_bits() != self.value.to_bits() && shown(limit) == shown(self.value)
            })
        };
        let text = match looks_like(self.low) || looks_like(self.high) {
            true => exact(number),
            false => shown(number),
        };
        match self.unit.as_str() {
            "" => text,
            unit => format!("{text} {unit}"),
        }
    }
}

/// What a value outside its limits is told as: `the value of clock is 1020000 Hz, not 990000 Hz to 1010000 Hz`.
impl fmt::Display for Measurement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.with_unit(self.value);
        write!(f, "the value of {} is {value}", self.name)?;
        match self.limits() {
            Some(limits) if !self.is_within() => write!(f, ", not {limits}"),
            _ => Ok(()),
        }
    }
}

/// Whether a value is no less than `low` and no more than `high`, as far as there are such limits.
#[must_use]
pub fn is_within(value: f64, low: Option<f64>, high: Option<f64>) -> bool {
    low.is_none_or(|low| low <= value) && high.is_none_or(|high| value <= high)
}

/// Those that reports show, failures first, and how many there are of them all.
#[must_use]
pub fn told_of<'m>(all: impl Iterator<Item = &'m Measurement> + Clone) -> (Vec<Measurement>, u64) {
    let count = all.clone().count() as u64;
    let bad = all.clone().filter(|measured| !measured.is_within());
    let good = all.filter(|measured| measured.is_within());
    let told = bad.chain(good).take(TOLD_MAX);
    (told.cloned().collect(), count)
}

/// A number for people.
fn shown(number: f64) -> String {
    let rounded = format!("{number:.*e}", DIGITS - 1).parse::<f64>();
    exact(rounded.unwrap_or(number))
}

/// A number as it is, short if it is very large or very small.
fn exact(number: f64) -> String {
    let is_plain = number == 0.0 || (1e-5..1e15).contains(&number.abs());
    match is_plain {
        true => format!("{number}"),
        false => format!("{number:e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(value: f64, low: Option<f64>, high: Option<f64>) -> Measurement {
        Measurement {
            name: "rail".to_owned(),
            value,
            unit: "V".to_owned(),
            low,
            high,
            serial: None,
        }
    }

    #[test]
    fn limits_are_inclusive_and_may_be_one() {
        let is_within = |value, low, high| of(value, low, high).is_within();
        assert!(is_within(3.2, Some(3.2), Some(3.4)) && is_within(3.4, Some(3.2), Some(3.4)));
        assert!(!is_within(3.199, Some(3.2), Some(3.4)) && !is_within(3.401, Some(3.2), Some(3.4)));
        assert!(is_within(-9.0, None, Some(0.0)) && !is_within(0.1, None, Some(0.0)));
        assert!(is_within(9.0, Some(0.0), None) && is_within(9.0, None, None));
    }

    #[test]
    fn values_and_limits_are_told_with_their_unit() {
        assert_eq!(of(3.3, None, None).told(), "3.3 V");
        assert_eq!(
            of(0.1 + 0.2, Some(0.0), Some(3.4)).told(),
            "0.3 V (0 V to 3.4 V)"
        );
        assert_eq!(of(2.0, Some(3.0), None).told(), "2 V (at least 3 V)");
        assert_eq!(
            of(4.0, None, Some(3.0)).to_string(),
            "the value of rail is 4 V, not at most 3 V"
        );
        assert_eq!(of(1e-9, None, None).told(), "1e-9 V");
        // What is hardly over a limit is seen to be.
        let near = of(3.000_000_000_000_1, None, Some(3.0));
        assert_eq!(
            near.to_string(),
            "the value of rail is 3.0000000000001 V, not at most 3 V"
        );
    }

    #[test]
    fn failures_are_shown_first_and_all_are_counted() {
        let mut all = vec![of(1.0, None, None); TOLD_MAX + 5];
        all.push(of(2.0, None, Some(1.0)));
        let (told, count) = told_of(all.iter());
        assert_eq!((told.len(), count), (TOLD_MAX, TOLD_MAX as u64 + 6));
        assert!(!told[0].is_within() && told[1].is_within());
    }
}
