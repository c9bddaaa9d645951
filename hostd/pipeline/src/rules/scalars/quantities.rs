//! Quantities of rules with their units: times, frequencies, percentages, analog values.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error};
use serde::{Serialize, Serializer};

use super::Written;
use crate::reading::AS_WRITTEN;
use crate::units::{DECIMAL, FINE_TIMES, decimal};

/// A time in nanoseconds, which may be negative where it is counted from the trigger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time(pub i64);

impl Time {
    /// Reads a time with its unit: `10us`, `1.5ms`, `-2s`.
    ///
    /// # Errors
    /// A sentence that says what to write.
    pub fn parse(text: &str) -> Result<Self, String> {
        decimal(text, FINE_TIMES, "10us or 1.5ms").map(|(value, _)| Self(value))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        exact(f, self.0, &FINE_TIMES[..4])
    }
}

written!(
    Time,
    of_units(
        FINE_TIMES,
        "A time: a number with `ns`, `us`, `ms`, `s`, `m` or `h`.",
        &["10us", "1.5ms"]
    )
);

/// Units of frequencies, in thousandths of a hertz.
const FINE_RATES: &[(&str, u64)] = &[
    ("mHz", 1),
    ("Hz", 1_000),
    ("kHz", 1_000_000),
    ("MHz", 1_000_000_000),
];

/// A frequency in thousandths of a hertz.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hertz(pub i64);

impl Hertz {
    fn parse(text: &str) -> Result<Self, String> {
        let value = decimal(text, FINE_RATES, "1MHz or 32.768kHz")?.0;
        not_negative(value).map(Self)
    }

    /// In hertz.
    #[must_use]
    pub fn hz(self) -> f64 {
        float(self.0) / 1e3
    }
}

impl fmt::Display for Hertz {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        exact(f, self.0, FINE_RATES)
    }
}

written!(
    Hertz,
    of_units(
        FINE_RATES,
        "A frequency: a number with `mHz`, `Hz`, `kHz` or `MHz`.",
        &["1MHz", "32.768kHz"]
    )
);

/// A percentage, in billionths of the whole.
const PERCENT: &[(&str, u64)] = &[("%", 10_000_000)];

/// A part of a whole, in billionths of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Percent(pub i64);

impl Percent {
    fn parse(text: &str) -> Result<Self, String> {
        not_negative(decimal(text, PERCENT, "50% or 0.5%")?.0).map(Self)
    }

    /// As a part of one.
    #[must_use]
    pub fn part(self) -> f64 {
        float(self.0) / 1e9
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        exact(f, self.0, PERCENT)
    }
}

written!(
    Percent,
    of_units(PERCENT, "A number with `%`.", &["50%", "0.5%"])
);

/// What an analog value is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Volts.
    Volt,
    /// Amperes.
    Ampere,
}

impl Unit {
    /// As captures have it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Volt => "V",
            Self::Ampere => "A",
        }
    }
}

/// Units of analog values, in millionths.
const LEVELS: &[(&str, u64)] = &[
    ("uV", 1),
    ("mV", 1_000),
    ("V", 1_000_000),
    ("uA", 1),
    ("mA", 1_000),
    ("A", 1_000_000),
];

/// An analog value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quantity {
    /// In millionths of its unit.
    pub millionths: i64,
    /// Its unit.
    pub unit: Unit,
}

impl Quantity {
    /// Reads a value with its unit: `3.3V`, `-50mV`, `120mA`.
    ///
    /// # Errors
    /// A sentence that says what to write.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (millionths, unit) = decimal(text, LEVELS, "3.3V or -50mV")?;
        let unit = match unit.ends_with('V') {
            true => Unit::Volt,
            false => Unit::Ampere,
        };
        Ok(Self { millionths, unit })
    }

    /// In its unit.
    #[must_use]
    pub fn value(self) -> f64 {
        float(self.millionths) / 1e6
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = match self.unit {
            Unit::Volt => &LEVELS[..3],
            Unit::Ampere => &LEVELS[3..],
        };
        exact(f, self.millionths, units)
    }
}

written!(
    Quantity,
    of_units(
        LEVELS,
        "An analog value: a number with `uV`, `mV`, `V`, `uA`, `mA` or `A`.",
        &["3.3V", "-50mV"]
    )
);

/// How far a frequency may be off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HertzTolerance {
    /// A part of it.
    Percent(Percent),
    /// In itself.
    Hertz(Hertz),
}

impl HertzTolerance {
    fn parse(text: &str) -> Result<Self, String> {
        match text.ends_with('%') {
            true => Percent::parse(text).map(Self::Percent),
            false => Hertz::parse(text).map(Self::Hertz),
        }
    }

    /// Of a frequency, in hertz.
    #[must_use]
    pub fn hz(self, of: Hertz) -> f64 {
        match self {
            Self::Percent(percent) => percent.part() * of.hz(),
            Self::Hertz(hertz) => hertz.hz(),
        }
    }
}

impl fmt::Display for HertzTolerance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Percent(percent) => percent.fmt(f),
            Self::Hertz(hertz) => hertz.fmt(f),
        }
    }
}

written!(
    HertzTolerance,
    of_units(
        &[PERCENT, FINE_RATES].concat(),
        "How far it may be off: a part, as `1%`, or a frequency.",
        &["1%", "10kHz"]
    )
);

/// How far an analog value may be off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuantityTolerance {
    /// A part of it.
    Percent(Percent),
    /// In itself.
    Quantity(Quantity),
}

impl QuantityTolerance {
    fn parse(text: &str) -> Result<Self, String> {
        match text.ends_with('%') {
            true => Percent::parse(text).map(Self::Percent),
            false => Quantity::parse(text).map(Self::Quantity),
        }
    }

    /// Of a value, in its unit.
    #[must_use]
    pub fn of(self, value: Quantity) -> f64 {
        match self {
            Self::Percent(percent) => percent.part() * value.value().abs(),
            Self::Quantity(quantity) => quantity.value(),
        }
    }
}

impl fmt::Display for QuantityTolerance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Percent(percent) => percent.fmt(f),
            Self::Quantity(quantity) => quantity.fmt(f),
        }
    }
}

written!(
    QuantityTolerance,
    of_units(
        &[PERCENT, LEVELS].concat(),
        "How far it may be off: a part, as `2%`, or a value.",
        &["2%", "50mV"]
    )
);

fn not_negative(value: i64) -> Result<i64, String> {
    match value < 0 {
        true => Err("this must not be negative".to_owned()),
        false => Ok(value),
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "quantities are at most what such a number holds exactly"
)]
fn float(value: i64) -> f64 {
    value as f64
}

/// Writes a value in the largest unit that it has one of, with as few digits as it takes.
fn exact(f: &mut fmt::Formatter<'_>, value: i64, units: &[(&str, u64)]) -> fmt::Result {
    let fits = |unit: &&(&str, u64)| unit.1 <= value.unsigned_abs();
    let (name, factor) = units.iter().rev().find(fits).unwrap_or(&units[0]);
    let sign = if value < 0 { "-" } else { "" };
    let (whole, rest) = (value.unsigned_abs() / factor, value.unsigned_abs() % factor);
    write!(f, "{sign}{whole}")?;
    // The rest in billionths of the unit is exact, since every factor divides a power of ten of at most nine digits or
    // the value came from so many.
    let digits = format!(
        "{:09}",
        u128::from(rest) * 1_000_000_000 / u128::from(*factor)
    );
    let digits = digits.trim_end_matches('0');
    match digits.is_empty() {
        true => write!(f, "{name}"),
        false => write!(f, ".{digits}{name}"),
    }
}

fn of_units(units: &[(&str, u64)], description: &str, examples: &[&str]) -> Schema {
    let names: Vec<&str> = units.iter().map(|(name, _)| *name).collect();
    json_schema!({
        "type": "string",
        "description": description,
        "pattern": format!("{DECIMAL}({})$", names.join("|")),
        "examples": examples,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_exact_and_written_as_they_were() {
        for (text, ns) in [
            ("10us", 10_000),
            ("1.5ms", 1_500_000),
            ("-2s", -2_000_000_000),
            ("41.666us", 41_666),
            ("0s", 0),
            ("123456789.123456789s", 123_456_789_123_456_789),
        ] {
            let read = Time::parse(text);
            if ns > 1 << 53 {
                assert!(read.unwrap_err().contains("write less"));
                continue;
            }
            let read = read.unwrap();
            assert_eq!(read.0, ns, "{text}");
            assert_eq!(Time::parse(&read.to_string()), Ok(read));
        }
        assert_eq!(Time(1_500_000).to_string(), "1.5ms");
        assert_eq!(Hertz::parse("32.768kHz").unwrap().0, 32_768_000);
        assert_eq!(Hertz(1_000_000_000).to_string(), "1MHz");
        assert_eq!(Percent::parse("0.5%").unwrap().part(), 0.005);
        let level = Quantity::parse("-50mV").unwrap();
        assert_eq!((level.millionths, level.unit), (-50_000, Unit::Volt));
        assert_eq!(level.to_string(), "-50mV");
        assert_eq!(Quantity::parse("120mA").unwrap().unit, Unit::Ampere);
    }

    #[test]
    fn what_has_no_unit_or_too_many_digits_is_refused() {
        for (text, says) in [
            ("5", "5 of what?"),
            ("1.5", "1.5 of what?"),
            ("1.5ns", "finer than 1ns"),
            ("5 ms", "` ms` is no unit"),
            (".5ms", "as 10us or 1.5ms"),
            ("1.ms", "as 10us or 1.5ms"),
            ("1e3us", "`e3us` is no unit"),
            ("1234567890s", "as 10us or 1.5ms"),
            ("--1s", "as 10us or 1.5ms"),
            ("", "as 10us or 1.5ms"),
        ] {
            let refused = Time::parse(text).unwrap_err();
            assert!(refused.contains(says), "{text}: {refused}");
        }
        assert!(Hertz::parse("-1Hz").unwrap_err().contains("negative"));
    }
}
