//! `[config]`: what the operator of a plugin may set, and whether what was set is that. Four types, each with a few
//! bounds: a form that anybody can fill in, not a language.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Number, Value};
use toml::de::DeValue;

use crate::manifest::prose;
use crate::manifest::section::{Found, Report, Section};

/// Most keys.
pub const KEYS_MAX: usize = 64;

/// Longest key and longest text, in bytes.
const KEY_BYTES_MAX: usize = 64;
pub(crate) const TEXT_BYTES_MAX: usize = 10_000;
const TEXT_BYTES_DEFAULT: usize = 1000;

/// Most values of an `enum`.
const CHOICES_MAX: usize = 64;

const DESCRIPTION_BYTES_MAX: usize = 1000;

/// What may be set, by key.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Schema(BTreeMap<String, Setting>);

/// One thing to set.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Setting {
    /// What a value must be.
    #[serde(flatten)]
    pub kind: Kind,
    /// What counts if nothing is set; none if it must be set.
    pub default: Option<Value>,
    /// For people.
    pub description: Option<String>,
}

/// A type with its bounds.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Kind {
    /// A text.
    String {
        /// Longest, in bytes.
        max_length: usize,
        /// Only these, if there are any.
        #[serde(rename = "enum")]
        choices: Vec<String>,
    },
    /// A whole number.
    Integer {
        /// Smallest.
        min: i64,
        /// Largest.
        max: i64,
    },
    /// A number.
    Number {
        /// Smallest.
        min: f64,
        /// Largest.
        max: f64,
    },
    /// Yes or no.
    Boolean,
}

/// A value that may not be set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{key} {what}")]
pub struct Fault {
    /// Which.
    pub key: String,
    /// What is wrong, as a fragment that follows the key.
    pub what: String,
}

impl Schema {
    /// What may be set, by key.
    #[must_use]
    pub fn keys(&self) -> &BTreeMap<String, Setting> {
        &self.0
    }

    /// Whether all of this may be set, and all that must be set is.
    ///
    /// # Errors
    /// Everything that is wrong.
    pub fn check(&self, values: &Map<String, Value>) -> Result<(), Vec<Fault>> {
        let faults = self.effective(values).1;
        if faults.is_empty() {
            Ok(())
        } else {
            Err(faults)
        }
    }

    /// What the plugin gets: what is set and may be, and defaults for the rest. What was set for another version and may
    /// not be set any more is left out and told.
    #[must_use]
    pub fn effective(&self, values: &Map<String, Value>) -> (Map<String, Value>, Vec<Fault>) {
        let mut faults = Vec::new();
        let mut fault = |key: &str, what: String| {
            let key = key.to_owned();
            faults.push(Fault { key, what });
        };
        for key in values.keys().filter(|key| !self.0.contains_key(*key)) {
            fault(key, "is nothing that this plugin lets be set".to_owned());
        }
        let mut all = Map::new();
        for (key, setting) in &self.0 {
            let value = match values
                .get(key)
                .map(|value| (value, setting.kind.check(value)))
            {
                Some((value, Ok(()))) => Some(value),
                Some((_, Err(what))) => {
                    fault(key, what);
                    setting.default.as_ref()
                }
                None if setting.default.is_none() => {
                    fault(key, "must be set".to_owned());
                    None
                }
                None => setting.default.as_ref(),
            };
            if let Some(value) = value {
                all.insert(key.clone(), value.clone());
            }
        }
        (all, faults)
    }

    pub(crate) fn read(config: &mut Section<'_>, report: &mut Report<'_>) -> Self {
        let found = config.rest();
        if found.len() > KEYS_MAX {
            report.note(
                config.at(),
                config.path(),
                format!("must have at most {KEYS_MAX} keys"),
            );
            return Self::default();
        }
        let mut settings = BTreeMap::new();
        for (key, found) in found {
            let is_plain =
                |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-_".contains(&b);
            if !(1..=KEY_BYTES_MAX).contains(&key.get_ref().len())
                || !key.get_ref().bytes().all(is_plain)
            {
                let what =
                    format!("must have keys of 1 to {KEY_BYTES_MAX} characters a-z, 0-9, - and _");
                report.note(key.span().start, config.path(), what);
                continue;
            }
            if let Some(setting) = found
                .table(report)
                .and_then(|table| read_one(table, report))
            {
                settings.insert(key.into_inner().into_owned(), setting);
            }
        }
        Self(settings)
    }
}

fn read_one(mut section: Section<'_>, report: &mut Report<'_>) -> Option<Setting> {
    let kind = section.needed("type", report, |name| match name {
        "string" | "integer" | "number" | "boolean" => Ok(name.to_owned()),
        _ => Err("must be string, integer, number or boolean".to_owned()),
    });
    let kind = kind.and_then(|name| read_kind(&name, &mut section, report));
    let description = section.text("description", report, |text| {
        prose(text, DESCRIPTION_BYTES_MAX)
    });
    let default = section.take("default");
    let path = section.path().to_owned();
    if kind.is_some() {
        section.finish(report);
    }
    let kind = kind?;
    let default = match default {
        None => None,
        Some(found) => {
            let value = json(&found.value);
            let checked = value.as_ref().map(|value| kind.check(value));
            if let Some(Err(what)) = checked {
                report.note(found.at, &format!("{path}.default"), what);
            } else if checked.is_none() {
                report.note(
                    found.at,
                    &format!("{path}.default"),
                    "must be a text, a number, true or false",
                );
            }
            value
        }
    };
    Some(Setting {
        kind,
        default,
        description,
    })
}

fn read_kind(name: &str, section: &mut Section<'_>, report: &mut Report<'_>) -> Option<Kind> {
    let (at, path) = (section.at(), section.path().to_owned());
    let kind = match name {
        "string" => Kind::String {
            max_length: text_length(section, report),
            choices: section
                .texts("enum", CHOICES_MAX, report, |text| Ok(text.to_owned()))
                .into_iter()
                .collect(),
        },
        "integer" => {
            let mut bound = |key| section.integer(key, report).map(|(number, _)| number);
            let (min, max) = (
                bound("min").unwrap_or(i64::MIN),
                bound("max").unwrap_or(i64::MAX),
            );
            if min > max {
                report.note(at, &path, "has a min above its max, so nothing can be set");
            }
            Kind::Integer { min, max }
        }
        "number" => {
            let mut bound = |key| section.take(key).and_then(|found| number(&found, report));
            let (min, max) = (
                bound("min").unwrap_or(f64::MIN),
                bound("max").unwrap_or(f64::MAX),
            );
            if min > max {
                report.note(at, &path, "has a min above its max, so nothing can be set");
            }
            Kind::Number { min, max }
        }
        _ => Kind::Boolean,
    };
    if let Kind::String {
        max_length,
        choices,
    } = &kind
        && choices.iter().any(|choice| choice.len() > *max_length)
    {
        report.note(
            at,
            &path,
            format!("has a choice over its max_length, {max_length} bytes"),
        );
    }
    Some(kind)
}

fn text_length(section: &mut Section<'_>, report: &mut Report<'_>) -> usize {
    let Some((length, found)) = section.integer("max_length", report) else {
        return TEXT_BYTES_DEFAULT;
    };
    let length = usize::try_from(length).ok();
    let length = length.filter(|length| (1..=TEXT_BYTES_MAX).contains(length));
    length.unwrap_or_else(|| {
        report.note(
            found.at,
            &found.path,
            format!("must be from 1 to {TEXT_BYTES_MAX}"),
        );
        TEXT_BYTES_DEFAULT
    })
}

fn number(found: &Found<'_>, report: &mut Report<'_>) -> Option<f64> {
    let number = json(&found.value).and_then(|value| value.as_f64());
    if number.is_none() {
        report.note(found.at, &found.path, "must be a number");
    }
    number
}

/// A plain value of TOML as JSON; none for lists, tables, dates, and numbers that JSON has not.
fn json(value: &DeValue<'_>) -> Option<Value> {
    match value {
        DeValue::String(text) => Some(Value::String(text.clone().into_owned())),
        DeValue::Integer(number) => {
            let number = i64::from_str_radix(number.as_str(), number.radix()).ok()?;
            Some(Value::Number(number.into()))
        }
        DeValue::Float(number) => {
            Number::from_f64(number.as_str().parse().ok()?).map(Value::Number)
        }
        DeValue::Boolean(flag) => Some(Value::Bool(*flag)),
        DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => None,
    }
}

impl Kind {
    fn check(&self, value: &Value) -> Result<(), String> {
        match self {
            Self::String {
                max_length,
                choices,
            } => {
                let text = value.as_str().ok_or("must be a text")?;
                if text.len() > *max_length {
                    return Err(format!("must have at most {max_length} bytes"));
                }
                if !choices.is_empty() && !choices.iter().any(|choice| choice == text) {
                    return Err(format!("must be one of {}", choices.join(", ")));
                }
                Ok(())
            }
            Self::Integer { min, max } => {
                let number = value.as_i64().ok_or("must be a whole number")?;
                let is_within = (min..=max).contains(&&number);
                is_within
                    .then_some(())
                    .ok_or_else(|| format!("must be from {min} to {max}"))
            }
            Self::Number { min, max } => {
                let number = value.as_f64().ok_or("must be a number")?;
                let is_within = (min..=max).contains(&&number);
                is_within
                    .then_some(())
                    .ok_or_else(|| format!("must be from {min} to {max}"))
            }
            Self::Boolean => value
                .as_bool()
                .map(drop)
                .ok_or_else(|| "must be true or false".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const TEXT: &str = r#"
        room = { type = "string", default = "lab", max_length = 8, description = "Where.\nOr not." }
        level = { type = "string", enum = ["low", "high"] }
        count = { type = "integer", default = 3, min = 1, max = 0x10 }
        ratio = { type = "number", default = 1, max = 2.5 }
        loud = { type = "boolean", default = false }
    "#;

    fn read(text: &str) -> (Schema, Vec<String>) {
        let mut report = Report::new(text);
        let mut whole = Section::whole(text, &mut report).unwrap();
        let schema = Schema::read(&mut whole, &mut report);
        (
            schema,
            report.problems().iter().map(ToString::to_string).collect(),
        )
    }

    fn faults(values: Value) -> Vec<String> {
        let (schema, problems) = read(TEXT);
        assert_eq!(problems, [""; 0]);
        let faults = schema
            .check(values.as_object().unwrap())
            .err()
            .unwrap_or_default();
        faults.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_may_be_set_is() {
        assert_eq!(faults(json!({"level": "low"})), [""; 0]);
        assert_eq!(
            faults(json!({"level": "high", "count": 16, "ratio": -1.5, "loud": true, "room": ""})),
            [""; 0]
        );
    }

    #[test]
    fn everything_else_is_told() {
        assert_eq!(faults(json!({})), ["level must be set"]);
        let all = json!({"level": "mid", "count": 17, "ratio": "x", "loud": 1, "room": "laboratory", "x": 1});
        assert_eq!(
            faults(all),
            [
                "x is nothing that this plugin lets be set",
                "count must be from 1 to 16",
                "level must be one of high, low",
                "loud must be true or false",
                "ratio must be a number",
                "room must have at most 8 bytes",
            ]
        );
        assert_eq!(
            faults(json!({"level": "low", "count": 1.5})),
            ["count must be a whole number"]
        );
        assert_eq!(faults(json!({"level": null})), ["level must be a text"]);
    }

    #[test]
    fn what_an_update_does_not_know_any_more_gives_way_to_defaults() {
        let (schema, _) = read(TEXT);
        let stored = json!({"level": "low", "count": 99, "gone": 1});
        let (values, faults) = schema.effective(stored.as_object().unwrap());
        let wanted = json!({"level": "low", "count": 3, "loud": false, "ratio": 1, "room": "lab"});
        assert_eq!(Value::Object(values), wanted);
        assert_eq!(faults.len(), 2);
    }

    #[test]
    fn a_schema_that_cannot_be_met_is_refused() {
        for (text, problem) in [
            ("a = 1", "1: a must be a table"),
            ("a = {}", "1: a.type is missing"),
            (
                "a = { type = \"list\" }",
                "1: a.type must be string, integer, number or boolean",
            ),
            (
                "a = { type = \"boolean\", min = 1 }",
                "1: a has no key \"min\"",
            ),
            (
                "a = { type = \"integer\", min = 2, max = 1 }",
                "1: a has a min above its max, so nothing can be set",
            ),
            (
                "a = { type = \"number\", min = nan }",
                "1: a.min must be a number",
            ),
            (
                "a = { type = \"integer\", default = \"1\" }",
                "1: a.default must be a whole number",
            ),
            (
                "a = { type = \"boolean\", default = [] }",
                "1: a.default must be a text, a number, true or false",
            ),
            (
                "a = { type = \"string\", enum = [\"x\"], default = \"y\" }",
                "1: a.default must be one of x",
            ),
            (
                "a = { type = \"string\", max_length = 0 }",
                "1: a.max_length must be from 1 to 10000",
            ),
            (
                "a = { type = \"string\", max_length = 1, enum = [\"xy\"] }",
                "1: a has a choice over its max_length, 1 bytes",
            ),
            (
                "\"A b\" = { type = \"boolean\" }",
                "1:  must have keys of 1 to 64 characters a-z, 0-9, - and _",
            ),
        ] {
            let problem = problem.replace("1:  ", "1: ");
            assert_eq!(read(text).1, [problem], "{text}");
        }
    }
}
