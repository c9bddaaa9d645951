//! `if` of a step: when it runs. A closed set, nothing is computed.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde::de::{Deserialize, Deserializer, Error};

/// When a step runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum When {
    /// While nothing has failed.
    #[default]
    Success,
    /// Once a step of the run has failed.
    Failure,
    /// In either case.
    Always,
}

/// `success`, `failure` or `always`; or in which cells the step is there at all: `variant == debug`,
/// `pack != g4`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Condition {
    When(When),
    Cell { axis: Axis, is: bool, id: String },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Axis {
    Variant,
    Pack,
}

impl Axis {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Variant => "variant",
            Self::Pack => "pack",
        }
    }
}

impl Condition {
    fn parse(text: &str) -> Option<Self> {
        match text {
            "success" => return Some(Self::When(When::Success)),
            "failure" => return Some(Self::When(When::Failure)),
            "always" => return Some(Self::When(When::Always)),
            _ => {}
        }
        let mut words = text.split_ascii_whitespace();
        let (axis, operator, id) = (words.next()?, words.next()?, words.next()?);
        let axis = match axis {
            "variant" => Axis::Variant,
            "pack" => Axis::Pack,
            _ => return None,
        };
        let is = match operator {
            "==" => true,
            "!=" => false,
            _ => return None,
        };
        let is_id = id
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
        let condition = Self::Cell {
            axis,
            is,
            id: id.to_owned(),
        };
        (is_id && words.next().is_none()).then_some(condition)
    }
}

impl<'de> Deserialize<'de> for Condition {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let refusal = "a condition is success, failure or always, or compares the cell, as `variant == debug` or `pack != g4`";
        Self::parse(&text).ok_or_else(|| D::Error::custom(refusal))
    }
}

impl JsonSchema for Condition {
    fn schema_name() -> Cow<'static, str> {
        "Condition".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "`success` (without `if`), `failure` or `always`; or in which cells the step is there at all, as `variant == debug` or `pack != g4`.",
            "pattern": r"^(success|failure|always|\s*(variant|pack)\s+(==|!=)\s+[A-Za-z0-9_-]+\s*)$",
            "examples": ["always", "variant == debug"],
        })
    }
}
