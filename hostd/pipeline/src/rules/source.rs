//! Rules in a step: a list of them, or the path of their file.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{SeqAccessDeserializer, StrDeserializer};
use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};

use super::Rule;
use crate::limits::RULES_MAX;
use crate::scalars::{List, RelativePath};

/// A list of rules, or the path of a file that has them.
#[derive(Debug, Clone)]
pub(crate) enum RuleSource {
    List(List<Rule, RULES_MAX>),
    File(RelativePath),
}

impl<'de> Deserialize<'de> for RuleSource {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ListOrPath)
    }
}

struct ListOrPath;

impl<'de> Visitor<'de> for ListOrPath {
    type Value = RuleSource;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of rules, or the path of a file that has them")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<RuleSource, E> {
        RelativePath::deserialize(StrDeserializer::new(text)).map(RuleSource::File)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<RuleSource, A::Error> {
        List::deserialize(SeqAccessDeserializer::new(list)).map(RuleSource::List)
    }
}

impl JsonSchema for RuleSource {
    fn schema_name() -> Cow<'static, str> {
        "RuleSource".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let list = generator.subschema_for::<List<Rule, RULES_MAX>>();
        let path = generator.subschema_for::<RelativePath>();
        json_schema!({
            "description": "A list of rules, or the path of a file that has them.",
            "anyOf": [list, path],
        })
    }
}
