//! Schemas of records, one copy for each group, stripped of what concerns Rust alone.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value};

use crate::prose;

/// The schemas of a group's records, each of them once.
#[derive(Debug)]
pub struct Schemas(SchemaGenerator);

impl Default for Schemas {
    fn default() -> Self {
        let mut settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
        Self(settings.into_generator())
    }
}

impl Schemas {
    /// `components.schemas`.
    #[must_use]
    pub fn finish(mut self) -> Map<String, Value> {
        let mut all = self.0.take_definitions(true);
        all.values_mut().for_each(tidy);
        all
    }

    pub(super) fn of<T: JsonSchema>(&mut self) -> Value {
        let mut schema = self.0.subschema_for::<T>().into();
        tidy(&mut schema);
        schema
    }
}

/// Marks a member that is sometimes left out and sometimes `null`: `#[schemars(extend("x-null" =
/// true))]`.
const NULL: &str = "x-null";

/// Removes what concerns Rust alone: number formats and bounds of types, titles, and the `null` of
/// members that are left out instead.
fn tidy(schema: &mut Value) {
    if let Value::Array(items) = schema {
        items.iter_mut().for_each(tidy);
    }
    let Value::Object(members) = schema else {
        return;
    };
    // Doc comments are wrapped for readers of the code.
    if let Some(Value::String(text)) = members.get_mut("description") {
        *text = prose(&text.lines().collect::<Vec<_>>());
    }
    let is_number = members.get("type").is_some_and(|kind| {
        let kinds = kind
            .as_array()
            .map_or(std::slice::from_ref(kind), Vec::as_slice);
        kinds
            .iter()
            .any(|kind| kind == "integer" || kind == "number")
    });
    if is_number {
        members.remove("format");
    }
    let required = members.get("required").cloned().unwrap_or_default();
    let required = required.as_array().cloned().unwrap_or_default();
    if let Some(Value::Object(properties)) = members.get_mut("properties") {
        for (name, property) in properties {
            if !required.iter().any(|known| known == name) {
                never_null(property);
            }
        }
    }
    members.values_mut().for_each(tidy);
}

/// The schema without `null`.
fn never_null(schema: &mut Value) {
    let Value::Object(members) = schema else {
        return;
    };
    if members.remove(NULL).is_some() {
        return;
    }
    if let Some(Value::Array(kinds)) = members.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [kind] = &kinds[..] {
            let kind = kind.clone();
            members.insert("type".to_owned(), kind);
        }
    }
    if let Some(Value::Array(words)) = members.get_mut("enum") {
        words.retain(|word| !word.is_null());
    }
    if let Some(Value::Array(schemas)) = members.get_mut("anyOf") {
        schemas.retain(|schema| schema["type"] != "null");
        if let [Value::Object(only)] = &schemas[..] {
            let only = only.clone();
            members.remove("anyOf");
            members.extend(only);
        }
    }
}

/// A time in UTC, RFC 3339, as records have it: `#[schemars(with = "Time")]` on a string.
#[derive(Debug)]
pub enum Time {}

impl JsonSchema for Time {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Time".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({"type": "string", "format": "date-time"})
    }
}
