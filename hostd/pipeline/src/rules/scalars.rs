//! Values of rules: times, frequencies, levels with their units, edges and patterns of bytes. Each is a text.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::{Serialize, Serializer};

use crate::limits::{LABEL_CHARS_MAX, PATTERN_BYTES_MAX};
use crate::reading::AS_WRITTEN;
use crate::units::{DECIMAL, FINE_TIMES, decimal};

/// Reads a scalar as it is written, a bare number included, so that its refusal can ask for the unit.
struct Written;

impl Visitor<'_> for Written {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text")
    }

    fn visit_str<E>(self, text: &str) -> Result<String, E> {
        Ok(text.to_owned())
    }
}

/// A type that is a text in documents.
macro_rules! written {
    ($name:ident, $schema:expr) => {
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = deserializer.deserialize_newtype_struct(AS_WRITTEN, Written)?;
                Self::parse(&text).map_err(D::Error::custom)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                $schema
            }
        }
    };
}

/// The name of a channel.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name(String);

impl Name {
    pub(super) fn known(text: &str) -> Self {
        Self(text.to_owned())
    }

    fn parse(text: &str) -> Result<Self, String> {
        let count = text.chars().count();
        if count == 0 || count > LABEL_CHARS_MAX || text.chars().any(char::is_control) {
            return Err(format!(
                "the name of a channel has 1 to {LABEL_CHARS_MAX} characters on one line"
            ));
        }
        Ok(Self(text.to_owned()))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

written!(
    Name,
    json_schema!({
        "type": ["string", "integer"],
        "description": "The name of a channel.",
        "minLength": 1,
        "maxLength": LABEL_CHARS_MAX,
    })
);

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

/// Which way an edge goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From low to high.
    Rising,
    /// From high to low.
    Falling,
    /// Either.
    Any,
}

impl Direction {
    const ALL: [(&'static str, Self); 3] = [
        ("rising", Self::Rising),
        ("falling", Self::Falling),
        ("any", Self::Any),
    ];

    /// Whether an edge is meant that ends high or low.
    #[must_use]
    pub fn is(self, ends_high: bool) -> bool {
        match self {
            Self::Rising => ends_high,
            Self::Falling => !ends_high,
            Self::Any => true,
        }
    }
}

/// Edges of a channel: `irq falling`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EdgeOf {
    /// The channel.
    pub channel: Name,
    /// Which of its edges.
    pub direction: Direction,
}

impl EdgeOf {
    fn parse(text: &str) -> Result<Self, String> {
        let split = text.rsplit_once(' ');
        let found = split.and_then(|(channel, word)| {
            let mut all = Direction::ALL.into_iter();
            let (_, direction) = all.find(|(name, _)| *name == word)?;
            Some((channel.trim_end(), direction))
        });
        let (channel, direction) = found.ok_or(
            "write a channel and which of its edges, as `irq rising`, `irq falling` or `irq any`",
        )?;
        let channel = Name::parse(channel)?;
        Ok(Self { channel, direction })
    }
}

impl fmt::Display for EdgeOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut all = Direction::ALL.into_iter();
        let found = all.find(|(_, direction)| *direction == self.direction);
        let word = found.map_or("", |(name, _)| name);
        write!(f, "{} {word}", self.channel)
    }
}

written!(
    EdgeOf,
    json_schema!({
        "type": "string",
        "description": "Edges of a channel: its name, and `rising`, `falling` or `any`.",
        "pattern": "^[^\\x00-\\x1f ].* (rising|falling|any)$",
        "examples": ["irq falling"],
    })
);

/// Bytes, one after the other; none is any byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BytePattern(Vec<Option<u8>>);

impl BytePattern {
    /// Reads hexadecimal bytes with spaces between them: `55 AA ?? 01`.
    ///
    /// # Errors
    /// A sentence that says what to write.
    pub fn parse(text: &str) -> Result<Self, String> {
        let byte = |word: &str| {
            if word == "??" {
                return Some(None);
            }
            let digits = word.strip_prefix("0x").unwrap_or(word);
            let is_byte = digits.len() == 2 && digits.bytes().all(|d| d.is_ascii_hexdigit());
            is_byte.then(|| u8::from_str_radix(digits, 16).ok())
        };
        let bytes: Option<Vec<Option<u8>>> = text.split_ascii_whitespace().map(byte).collect();
        match bytes {
            Some(bytes) if (1..=PATTERN_BYTES_MAX).contains(&bytes.len()) => Ok(Self(bytes)),
            Some(bytes) if bytes.len() > PATTERN_BYTES_MAX => Err(format!(
                "these are {} bytes, more than {PATTERN_BYTES_MAX}: write fewer",
                bytes.len()
            )),
            _ => Err(
                "write bytes of two hexadecimal digits with spaces between them, `??` for any byte, as \"55 AA ?? 01\""
                    .to_owned(),
            ),
        }
    }

    /// The bytes; none is any byte.
    #[must_use]
    pub fn bytes(&self) -> &[Option<u8>] {
        &self.0
    }
}

impl fmt::Display for BytePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, byte) in self.0.iter().enumerate() {
            let space = if at > 0 { " " } else { "" };
            match byte {
                Some(byte) => write!(f, "{space}{byte:02X}")?,
                None => write!(f, "{space}??")?,
            }
        }
        Ok(())
    }
}

written!(
    BytePattern,
    json_schema!({
        "type": ["string", "integer"],
        "description": "Bytes of two hexadecimal digits with spaces between them; `??` is any byte.",
        // A byte without letters is a number to YAML.
        "minimum": 10,
        "maximum": 99,
        "pattern": format!("^\\s*((0x)?[0-9A-Fa-f]{{2}}|\\?\\?)(\\s+((0x)?[0-9A-Fa-f]{{2}}|\\?\\?)){{0,{}}}\\s*$", PATTERN_BYTES_MAX - 1),
        "examples": ["55 AA ?? 01"],
    })
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

    #[test]
    fn edges_and_bytes_are_read() {
        let edge = EdgeOf::parse("my irq falling").unwrap();
        assert_eq!(edge.channel.as_str(), "my irq");
        assert_eq!(edge.to_string(), "my irq falling");
        assert!(edge.direction.is(false) && !edge.direction.is(true));
        for wrong in ["irq", "rising", "irq up", " rising"] {
            assert!(EdgeOf::parse(wrong).is_err(), "{wrong}");
        }
        let bytes = BytePattern::parse("55 aa ?? 0x01").unwrap();
        assert_eq!(bytes.bytes(), [Some(0x55), Some(0xaa), None, Some(1)]);
        assert_eq!(bytes.to_string(), "55 AA ?? 01");
        for wrong in ["", "5", "555", "zz", "55,aa"] {
            assert!(BytePattern::parse(wrong).is_err(), "{wrong}");
        }
        let long = "00 ".repeat(PATTERN_BYTES_MAX + 1);
        assert!(BytePattern::parse(&long).unwrap_err().contains("fewer"));
    }
}
