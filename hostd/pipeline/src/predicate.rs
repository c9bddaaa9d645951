//! What a run wants of a device, and whether one has it.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde::de::{Deserialize, Deserializer, Error, Visitor};

use crate::limits::{LABEL_CHARS_MAX, LIST_MAX};

/// What one capability must be.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Predicate {
    /// One of these; numbers and versions by value, text without regard to case.
    OneOf(Vec<String>),
    /// None of these, but known.
    NoneOf(Vec<String>),
    /// `>=`
    AtLeast(String),
    /// `>`
    Above(String),
    /// `<=`
    AtMost(String),
    /// `<`
    Below(String),
}

/// What an operator makes of the text after it.
type Comparison = fn(String) -> Predicate;

/// Operators, longer ones first, with what they make.
const OPERATORS: &[(&str, Comparison)] = &[
    (">=", Predicate::AtLeast),
    ("<=", Predicate::AtMost),
    (">", Predicate::Above),
    ("<", Predicate::Below),
];

impl Predicate {
    fn parse(text: &str) -> Result<Self, String> {
        if text.chars().count() > LABEL_CHARS_MAX * LIST_MAX {
            return Err("this is longer than any predicate".to_owned());
        }
        let text = text.trim();
        for (operator, predicate) in OPERATORS {
            if let Some(operand) = text.strip_prefix(operator) {
                let operand = operand.trim();
                let wanted =
                    format!("after `{operator}` comes a number or a version, as `>=4` or `>=3.10`");
                numbers(operand).ok_or(wanted)?;
                return Ok(predicate(operand.to_owned()));
            }
        }
        let (predicate, values): (fn(Vec<String>) -> Self, _) = match text.strip_prefix("!=") {
            Some(values) => (Self::NoneOf, values),
            None => (Self::OneOf, text.strip_prefix("==").unwrap_or(text)),
        };
        let values: Vec<String> = values
            .split('|')
            .map(|value| value.trim().to_owned())
            .collect();
        match values.iter().all(|value| is_value(value)) {
            true => Ok(predicate(values)),
            false => Err("a predicate is a value, `a|b` for one of several, or `>=4`, `>4`, `<=4`, `<4`, `!=a`".to_owned()),
        }
    }

    fn holds(&self, value: &Capability) -> bool {
        let is = |values: &[String]| values.iter().any(|wanted| value.is(wanted));
        let order = |bound: &str| value.compare(bound);
        match self {
            Self::OneOf(values) => is(values),
            Self::NoneOf(values) => !is(values),
            Self::AtLeast(bound) => order(bound).is_some_and(Ordering::is_ge),
            Self::Above(bound) => order(bound).is_some_and(Ordering::is_gt),
            Self::AtMost(bound) => order(bound).is_some_and(Ordering::is_le),
            Self::Below(bound) => order(bound).is_some_and(Ordering::is_lt),
        }
    }
}

fn is_value(value: &str) -> bool {
    let is_operator = |c: char| "<>=!{}".contains(c) || c.is_control();
    !value.is_empty() && !value.contains(is_operator)
}

/// `3.10` as 3 and 10, without zeros at its end.
fn numbers(text: &str) -> Option<Vec<u64>> {
    let mut parts = Vec::new();
    for part in text.split('.') {
        let is_number = !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        parts.push(part.parse().ok().filter(|_| is_number)?);
    }
    while parts.last() == Some(&0) {
        parts.pop();
    }
    Some(parts)
}

impl fmt::Display for Predicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OneOf(values) => f.write_str(&values.join("|")),
            Self::NoneOf(values) => write!(f, "!={}", values.join("|")),
            Self::AtLeast(bound) => write!(f, ">={bound}"),
            Self::Above(bound) => write!(f, ">{bound}"),
            Self::AtMost(bound) => write!(f, "<={bound}"),
            Self::Below(bound) => write!(f, "<{bound}"),
        }
    }
}

impl<'de> Deserialize<'de> for Predicate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Scalar)
    }
}

struct Scalar;

impl Visitor<'_> for Scalar {
    type Value = Predicate;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a predicate, as `>=4`, `stm32f030f4|stm32g431kb` or true")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Predicate, E> {
        Predicate::parse(text).map_err(E::custom)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Predicate, E> {
        Ok(Predicate::OneOf(vec![value.to_string()]))
    }

    fn visit_i128<E: Error>(self, value: i128) -> Result<Predicate, E> {
        Ok(Predicate::OneOf(vec![value.to_string()]))
    }
}

impl JsonSchema for Predicate {
    fn schema_name() -> Cow<'static, str> {
        "Predicate".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": ["string", "boolean", "integer"],
            "description": "What a capability must be: a value, one of several (`a|b`), or `>=4`, `>4`, `<=4`, `<4`, `!=a`. Versions compare part by part: 3.10 is more than 3.9.",
            "minLength": 1,
            "pattern": r"^\s*((>=|<=|>|<)\s*[0-9]+(\.[0-9]+)*|(!=|==)?\s*[^<>=!{}\x00-\x1f]+)\s*$",
            "examples": [">=4", "stm32f030f4|stm32g431kb", true],
        })
    }
}

/// What a device says of one of its capabilities.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Capability {
    /// It does not say. Matches no predicate.
    Unknown,
    /// It has it or not.
    Flag(bool),
    /// How many, or how much.
    Count(u64),
    /// A name or a version.
    Text(String),
}

impl Capability {
    fn is(&self, wanted: &str) -> bool {
        match self {
            Self::Unknown => false,
            Self::Flag(flag) => wanted.eq_ignore_ascii_case(if *flag { "true" } else { "false" }),
            Self::Count(_) => self.compare(wanted) == Some(Ordering::Equal),
            Self::Text(text) => {
                text.eq_ignore_ascii_case(wanted) || self.compare(wanted) == Some(Ordering::Equal)
            }
        }
    }

    fn compare(&self, bound: &str) -> Option<Ordering> {
        let own = match self {
            Self::Unknown | Self::Flag(_) => return None,
            Self::Count(count) => numbers(&count.to_string())?,
            Self::Text(text) => numbers(text)?,
        };
        Some(own.cmp(&numbers(bound)?))
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("unknown"),
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::Count(count) => write!(f, "{count}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// A device as a pipeline can ask for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capabilities {
    /// The device's name.
    pub name: String,
    /// By the names of the device record; `target` is the chip of its wiring.
    pub values: BTreeMap<String, Capability>,
}

impl Capabilities {
    /// How much the device offers: what it has, counted. Of two that fit, the one with less is taken.
    #[must_use]
    pub fn rank(&self) -> u32 {
        let has = |value: &&Capability| match value {
            Capability::Unknown | Capability::Flag(false) | Capability::Count(0) => false,
            Capability::Flag(true) | Capability::Count(_) | Capability::Text(_) => true,
        };
        u32::try_from(self.values.values().filter(has).count()).unwrap_or(u32::MAX)
    }
}

/// What a run of a bench wants of its device. All of it must hold.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Requirements {
    /// That device alone.
    pub name: Option<String>,
    /// What its capabilities must be.
    pub select: BTreeMap<String, Predicate>,
}

/// The first thing that keeps a run from a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// The capability; `name` for the device's name.
    pub key: String,
    /// The predicate, as it is written.
    pub wanted: String,
    /// What the device says; none: nothing of that name.
    pub found: Option<String>,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, wanted, found } = self;
        match found {
            Some(found) => write!(f, "{key} is {found}, the job wants {wanted}"),
            None => write!(f, "it has no {key}, the job wants {wanted}"),
        }
    }
}

impl std::error::Error for Mismatch {}

/// Whether a device has what a run wants.
///
/// # Errors
/// The first predicate, by name, that does not hold.
pub fn matches(wanted: &Requirements, device: &Capabilities) -> Result<(), Mismatch> {
    if let Some(name) = wanted.name.as_ref().filter(|name| **name != device.name) {
        return Err(Mismatch {
            key: "name".to_owned(),
            wanted: name.clone(),
            found: Some(device.name.clone()),
        });
    }
    for (key, predicate) in &wanted.select {
        let value = device.values.get(key);
        let holds =
            value.is_some_and(|value| *value != Capability::Unknown && predicate.holds(value));
        if !holds {
            return Err(Mismatch {
                key: key.clone(),
                wanted: predicate.to_string(),
                found: value.map(Capability::to_string),
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
