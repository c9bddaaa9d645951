//! Quantities with their units: `30m`, `1GiB`, `10MHz`. A bare number is refused, since nobody sees its unit.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error, Visitor};

use crate::limits::QUANTITY_MAX;

/// Most digits of a quantity.
const DIGITS_MAX: usize = 9;

/// A unit and how many of the smallest one it is.
pub(crate) type Unit = (&'static str, u64);

/// Units of times within a capture, in nanoseconds.
pub(crate) const FINE_TIMES: &[Unit] = &[
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// Reads a time as pipelines have it, for options of a command line: `500ms`, `90s`, `10m`, `2h`. It may be 0.
///
/// # Errors
/// A sentence that says what to write.
pub fn parse_time(text: &str) -> Result<std::time::Duration, String> {
    quantity(text, TIMES, "500ms or 30m").map(std::time::Duration::from_millis)
}

/// Reads a size as pipelines have it, for options of a command line, in bytes: `512MiB`, `4GiB`. It is more than 0.
///
/// # Errors
/// A sentence that says what to write.
pub fn parse_size(text: &str) -> Result<u64, String> {
    read(text, SIZES, "512MiB or 4GiB")
}

/// Reads a whole number with one of `units` that is more than 0.
fn read(text: &str, units: &[Unit], examples: &str) -> Result<u64, String> {
    match quantity(text, units, examples) {
        Ok(0) => Err("this must be more than 0".to_owned()),
        read => read,
    }
}

fn quantity(text: &str, units: &[Unit], examples: &str) -> Result<u64, String> {
    let digits = text.chars().take_while(char::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let written = || as_written("a whole number", units, examples);
    if digits == 0 || digits > DIGITS_MAX {
        return Err(written());
    }
    let (_, factor) = unit_of(unit, number, units, &written)?;
    let value = number
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(factor));
    match value {
        Some(value) if value <= QUANTITY_MAX => Ok(value),
        _ => Err(too_much(text)),
    }
}

/// How a quantity is written.
fn as_written(number: &str, units: &[Unit], examples: &str) -> String {
    let names: Vec<&str> = units.iter().map(|(name, _)| *name).collect();
    let names = names.join(", ");
    format!("write {number} of at most {DIGITS_MAX} digits and its unit ({names}), as {examples}")
}

/// The unit that stands behind a number.
fn unit_of(
    unit: &str,
    number: &str,
    units: &[Unit],
    written: &dyn Fn() -> String,
) -> Result<Unit, String> {
    let found = units.iter().find(|(name, _)| *name == unit);
    found.copied().ok_or_else(|| {
        let unit: String = unit.chars().take(16).collect();
        match unit.is_empty() {
            true => format!("{number} of what? {}", written()),
            false => format!("`{unit}` is no unit here: {}", written()),
        }
    })
}

/// What the number of [`decimal`] looks like, in a regular expression.
pub(crate) const DECIMAL: &str = r"^-?[0-9]{1,9}(\.[0-9]{1,9})?";

/// Reads a number, which may have a sign and decimals, with one of `units`, whose least is 1: how many of that it is, without
/// rounding, and the unit's name.
pub(crate) fn decimal(
    text: &str,
    units: &[Unit],
    examples: &str,
) -> Result<(i64, &'static str), String> {
    let written = || as_written("a number", units, examples);
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let (whole, rest) = unsigned.split_at(digits(unsigned));
    let (parts, unit) = match rest.strip_prefix('.') {
        Some(rest) => rest.split_at(digits(rest)),
        None => ("0", rest),
    };
    let is_number = |digits: &str| (1..=DIGITS_MAX).contains(&digits.len());
    if !is_number(whole) || !is_number(parts) {
        return Err(written());
    }
    let number = unsigned.strip_suffix(unit).unwrap_or(unsigned);
    let (name, factor) = unit_of(unit, number, units, &written)?;
    let read = |digits: &str| digits.parse::<u128>().unwrap_or(u128::MAX);
    let scale = (0..parts.len()).fold(1, |scale, _| scale * 10);
    let product = (read(whole) * scale + read(parts)) * u128::from(factor);
    if !product.is_multiple_of(scale) {
        let least = units[0].0;
        return Err(format!(
            "{text} is finer than 1{least}: write fewer decimals"
        ));
    }
    let value = i64::try_from(product / scale).ok();
    let fits = |value: &i64| value.unsigned_abs() <= QUANTITY_MAX;
    let value = value.filter(fits).ok_or_else(|| too_much(text))?;
    let sign = if text.starts_with('-') { -1 } else { 1 };
    Ok((sign * value, name))
}

fn too_much(text: &str) -> String {
    format!("{text} is more than any machine has: write less")
}

/// Writes a quantity in the largest unit that leaves it whole.
pub(crate) fn shown(value: u64, units: &[Unit]) -> String {
    let fits = |unit: &&Unit| value.is_multiple_of(unit.1);
    let (name, factor) = units.iter().rev().find(fits).unwrap_or(&units[0]);
    format!("{}{name}", value / factor)
}

fn schema(units: &[Unit], description: &str, examples: &[&str]) -> Schema {
    let names: Vec<&str> = units.iter().map(|(name, _)| *name).collect();
    json_schema!({
        "type": "string",
        "description": description,
        "pattern": format!("^(?=.*[1-9])[0-9]{{1,{DIGITS_MAX}}}({})$", names.join("|")),
        "examples": examples,
    })
}

macro_rules! quantity {
    ($(#[doc = $doc:literal])+ $name:ident, $units:ident = [$($unit:expr),+], $($example:literal),+) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub(crate) struct $name(pub(crate) u64);

        pub(crate) const $units: &[Unit] = &[$($unit),+];

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = deserializer.deserialize_any(Written)?;
                let examples = [$($example),+].join(" or ");
                read(&text, $units, &examples).map(Self).map_err(D::Error::custom)
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                let description = concat!($($doc, "\n"),+).trim();
                schema($units, description, &[$($example),+])
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&shown(self.0, $units))
            }
        }
    };
}

quantity! {
    /// A whole number with `ms`, `s`, `m` or `h`.
    Duration, TIMES = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)], "500ms", "30m"
}

quantity! {
    /// A whole number with `B`, `KiB`, `MiB` or `GiB`.
    Bytes, SIZES = [("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)], "64MiB", "1GiB"
}

quantity! {
    /// A whole number with `Hz`, `kHz` or `MHz`.
    Rate, RATES = [("Hz", 1), ("kHz", 1_000), ("MHz", 1_000_000)], "100kHz", "10MHz"
}

/// A scalar, numbers included, so that the refusal can ask for their unit.
struct Written;

impl Visitor<'_> for Written {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number with its unit")
    }

    fn visit_str<E>(self, text: &str) -> Result<String, E> {
        Ok(text.to_owned())
    }

    fn visit_i128<E>(self, number: i128) -> Result<String, E> {
        Ok(number.to_string())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{parse_size, parse_time};

    #[test]
    fn options_take_the_times_of_pipelines() {
        for (text, ms) in [
            ("0s", 0),
            ("250ms", 250),
            ("90s", 90_000),
            ("10m", 600_000),
            ("2h", 7_200_000),
        ] {
            assert_eq!(parse_time(text), Ok(Duration::from_millis(ms)), "{text}");
        }
        for (text, says) in [
            ("", "(ms, s, m, h)"),
            ("10", "10 of what?"),
            ("10 m", "` m` is no unit"),
            ("1.5s", "`.5s` is no unit"),
            ("10min", "`min` is no unit"),
            ("soon", "500ms or 30m"),
            ("-1s", "500ms or 30m"),
        ] {
            let refused = parse_time(text).unwrap_err();
            assert!(refused.contains(says), "{text}: {refused}");
        }
    }

    #[test]
    fn options_take_the_sizes_of_pipelines() {
        assert_eq!(parse_size("512MiB"), Ok(512 << 20));
        assert_eq!(parse_size("4GiB"), Ok(4 << 30));
        for (text, says) in [
            ("512", "512 of what?"),
            ("0MiB", "more than 0"),
            ("1MB", "`MB` is no unit"),
        ] {
            let refused = parse_size(text).unwrap_err();
            assert!(refused.contains(says), "{text}: {refused}");
        }
    }
}
