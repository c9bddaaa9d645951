//! JSON Schemas of the types that endpoints read and answer, each in one piece and without what concerns Rust alone.

use std::any::type_name;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::OperationError;

/// The members of a schema.
type Members = Map<String, Value>;

/// Of a value that an endpoint reads.
pub(super) fn read<T: JsonSchema>() -> Result<Value, OperationError> {
    let mut schema = whole::<T>(SchemaSettings::draft2020_12().for_deserialize())?;
    each(&mut schema, &plain);
    Ok(schema)
}

/// Of a value that an endpoint answers. An answer has a description of its own, so the type's is left out.
pub(super) fn answered<T: JsonSchema>() -> Result<Value, OperationError> {
    let mut schema = whole::<T>(SchemaSettings::draft2020_12().for_serialize())?;
    each(&mut schema, &promise_less);
    each(&mut schema, &plain);
    if let Some(members) = schema.as_object_mut() {
        members.remove("description");
    }
    Ok(schema)
}

/// Of the members of a struct, as parameters of a query.
pub(super) fn parameters<T: JsonSchema>() -> Result<Vec<Value>, OperationError> {
    let of = type_name::<T>();
    let schema = read::<T>()?;
    let members = schema["properties"].as_object();
    let members = members.ok_or(OperationError::Query { of })?;
    let required = schema["required"].as_array();
    let parameters = members.iter().map(|(name, member)| {
        let is_required = required.is_some_and(|names| names.iter().any(|known| known == name));
        let refused = || OperationError::Member {
            of,
            member: name.clone(),
        };
        parameter(name, member.clone(), is_required).ok_or_else(refused)
    });
    parameters.collect()
}

fn whole<T: JsonSchema>(mut settings: SchemaSettings) -> Result<Value, OperationError> {
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let mut generator = settings.into_generator();
    let schema = generator.subschema_for::<T>();
    // Only what contains itself is not inline.
    if generator.definitions().is_empty() {
        Ok(schema.to_value())
    } else {
        let of = type_name::<T>();
        Err(OperationError::Endless { of })
    }
}

/// Change each object in a schema.
fn each(schema: &mut Value, change: &impl Fn(&mut Members)) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(|item| each(item, change)),
        Value::Object(members) => {
            change(members);
            members.values_mut().for_each(|member| each(member, change));
        }
        _ => {}
    }
}

/// Take out the widths of Rust's numbers, and put the lines of a doc comment together.
fn plain(members: &mut Members) {
    if width(members).is_some() {
        members.remove("format");
    }
    if let Some(Value::String(text)) = members.get_mut("description") {
        *text = prose(text);
    }
}

/// Take out bounds that a Rust integer has by itself, and that members which may be `null` are there.
fn promise_less(members: &mut Members) {
    if let Some((least, most)) = width(members) {
        for (name, own) in [("minimum", least), ("maximum", most)] {
            if own.is_some() && members.get(name).and_then(Value::as_i64) == own {
                members.remove(name);
            }
        }
    }
    let properties = members.get("properties").and_then(Value::as_object);
    let with_null = properties
        .into_iter()
        .flatten()
        .filter(|(_, schema)| takes_null(schema));
    let with_null: Vec<String> = with_null.map(|(name, _)| name.clone()).collect();
    if let Some(Value::Array(names)) = members.get_mut("required") {
        names.retain(|name| !with_null.iter().any(|other| name == other));
        if names.is_empty() {
            members.remove("required");
        }
    }
}

/// The bounds of the Rust number that a schema is of, as far as schemas have them; none if it is of no number.
fn width(members: &Members) -> Option<(Option<i64>, Option<i64>)> {
    Some(match members.get("format")?.as_str()? {
        "int8" => (Some(i8::MIN.into()), Some(i8::MAX.into())),
        "int16" => (Some(i16::MIN.into()), Some(i16::MAX.into())),
        "uint8" => (Some(0), Some(u8::MAX.into())),
        "uint16" => (Some(0), Some(u16::MAX.into())),
        "uint" | "uint32" | "uint64" | "uint128" => (Some(0), None),
        "int" | "int32" | "int64" | "int128" | "float" | "double" => (None, None),
        _ => return None,
    })
}

fn prose(text: &str) -> String {
    let paragraphs = text.split("\n\n").map(|paragraph| {
        let lines: Vec<&str> = paragraph.lines().map(str::trim).collect();
        lines.join(" ")
    });
    paragraphs.collect::<Vec<_>>().join("\n\n")
}

fn takes_null(schema: &Value) -> bool {
    let kinds = &schema["type"];
    let is_named = kinds.as_array().is_some_and(|kinds| has_null(kinds));
    let choices = ["anyOf", "oneOf"].map(|word| schema[word].as_array());
    let mut choices = choices.into_iter().flatten().flatten();
    is_named || kinds == "null" || choices.any(takes_null)
}

fn has_null(kinds: &[Value]) -> bool {
    kinds.iter().any(|kind| kind == "null")
}

/// A member as a parameter; none if it cannot be read from one text.
fn parameter(name: &str, mut schema: Value, is_required: bool) -> Option<Value> {
    never_null(schema.as_object_mut()?);
    if !is_text(&schema) {
        return None;
    }
    let mut parameter = json!({"name": name, "in": "query"});
    if let Some(about) = schema.as_object_mut()?.remove("description") {
        parameter["description"] = about;
    }
    if is_required {
        parameter["required"] = true.into();
    }
    parameter["schema"] = schema;
    Some(parameter)
}

/// A query has no `null`: what is optional is left out.
fn never_null(members: &mut Members) {
    if members.get("default").is_some_and(Value::is_null) {
        members.remove("default");
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
    if let Some(Value::Array(choices)) = members.get_mut("anyOf") {
        choices.retain(|choice| choice["type"] != "null");
        if let [Value::Object(only)] = &choices[..] {
            let only = only.clone();
            members.remove("anyOf");
            // The member's own description is about more than its type's.
            for (name, value) in only {
                members.entry(name).or_insert(value);
            }
        }
    }
}

fn is_text(schema: &Value) -> bool {
    match schema["type"].as_str() {
        Some(kind) => matches!(kind, "string" | "integer" | "number" | "boolean"),
        // Words of an enum that have doc comments.
        None => schema["oneOf"]
            .as_array()
            .is_some_and(|words| words.iter().all(|word| word["type"] == "string")),
    }
}
