//! The tables of keys in the document for users, made from the schema: what editors show and what people read is
//! one text.

use std::fmt::Write as _;

use serde_json::{Map, Value};

/// Stand before and after the name of a type; its table follows.
const MARK: (&str, &str) = (
    "<!-- The table of ",
    " is written by `cargo xtask docs`. -->\n",
);

/// The document with its tables as the schema has them.
///
/// # Panics
/// When it asks for the table of a type that is not in the schema.
#[must_use]
pub fn renewed(document: &str) -> String {
    of(&crate::schema(), document)
}

/// As [`renewed`], of the document about rules.
///
/// # Panics
/// When it asks for the table of a type that is not in the schema of rules.
#[must_use]
pub fn renewed_rules(document: &str) -> String {
    of(&crate::rules::schema(), document)
}

fn of(schema: &Value, document: &str) -> String {
    let mut text = String::new();
    let mut rest = document;
    while let Some((before, after)) = rest.split_once(MARK.0) {
        let Some((name, after)) = after.split_once(MARK.1) else {
            break;
        };
        let table = table(schema, name);
        text.extend([before, MARK.0, name, MARK.1, "\n", &table]);
        rest = without_table(after);
    }
    text + rest
}

/// What follows a table, from its empty line on.
fn without_table(text: &str) -> &str {
    let mut rest = text.trim_start_matches('\n');
    if !rest.starts_with('|') {
        return text;
    }
    while rest.starts_with('|') {
        rest = rest.split_once('\n').map_or("", |(_, rest)| rest);
    }
    rest
}

fn table(schema: &Value, name: &str) -> String {
    let definition = match schema["title"] == name {
        true => schema,
        false => &schema["$defs"][name],
    };
    let properties = definition["properties"].as_object();
    let properties = properties.expect("the document names a type with keys");
    let required: Vec<&Value> = definition["required"]
        .as_array()
        .into_iter()
        .flatten()
        .collect();
    let mut text = "| key | value | |\n|---|---|---|\n".to_owned();
    let is_required = |key: &str| required.iter().any(|required| *required == key);
    let (first, then): (Vec<_>, Vec<_>) = properties.iter().partition(|(key, _)| is_required(key));
    for (key, property) in first.into_iter().chain(then) {
        let mark = if is_required(key) { ", required" } else { "" };
        let kind = kind(schema, property);
        let about = property["description"].as_str().unwrap_or_default();
        let about = about
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .replace('|', "\\|");
        let _ = writeln!(text, "| `{key}` | {kind}{mark} | {about} |");
    }
    text
}

/// What a value of the schema `all` is, in a few words.
fn kind(all: &Value, schema: &Value) -> String {
    let Some(object) = schema.as_object() else {
        return String::new();
    };
    if let Some(reference) = object.get("$ref").and_then(Value::as_str) {
        return named(all, reference.rsplit('/').next().unwrap_or_default());
    }
    if let Some(choices) = object.get("anyOf").and_then(Value::as_array) {
        let is_placeholder = |choice: &&Value| {
            choice["pattern"]
                .as_str()
                .is_some_and(|pattern| pattern.starts_with(r"\{\{"))
        };
        return match choices.iter().find(|choice| !is_placeholder(choice)) {
            Some(value) => format!("{} or placeholder", kind(all, value)),
            None => String::new(),
        };
    }
    plain(all, object)
}

fn plain(all: &Value, object: &Map<String, Value>) -> String {
    let number = |key: &str| object.get(key).map(Value::to_string);
    match object.get("type").and_then(Value::as_str) {
        Some("integer") => {
            let bounds = number("minimum").zip(number("maximum"));
            bounds.map_or_else(String::new, |(min, max)| format!("{min} to {max}"))
        }
        Some("boolean") => "`true` or `false`".to_owned(),
        Some("array") => format!("list of {}", kind(all, &object["items"])),
        Some("object") => format!("map of {}", kind(all, &object["additionalProperties"])),
        _ => object
            .get("const")
            .map_or_else(String::new, |value| format!("`{value}`")),
    }
}

/// A type by name, in the words of the document.
fn named(all: &Value, name: &str) -> String {
    let words = match name {
        "Version" => "`1`",
        "Duration" => "time",
        "Bytes" => "size",
        "Id" | "Target" => "id",
        "Variable" | "Label" | "Text" | "SecretName" => "text",
        "RelativePath" | "Artifact" => "path",
        "Pattern" => "pattern of paths",
        "Script" => "lines",
        "Image" => "image",
        "Condition" => "condition",
        "EnvValue" => "text or secret",
        "Predicate" => "predicate",
        "Rate" => "rate",
        "Decimal" => "number",
        "Measurand" => "quantity",
        "Time" => "time",
        "Hertz" => "frequency",
        "HertzTolerance" => "`%` or frequency",
        "Percent" => "`%`",
        "Quantity" => "value",
        "QuantityTolerance" => "`%` or value",
        "Name" => "channel",
        "EdgeOf" => "edge",
        "BytePattern" => "bytes",
        "RuleSource" => "list of map, or path",
        "Decoder" => "`i2c`, `spi`, `uart` or `<plugin id>/<decoder id>`",
        _ => return choices(all, name),
    };
    words.to_owned()
}

/// The words of an enum, or a map with a table of its own.
fn choices(schema: &Value, name: &str) -> String {
    let definition = &schema["$defs"][name];
    let consts = definition["oneOf"].as_array().into_iter().flatten();
    let mut words: Vec<&str> = consts
        .filter_map(|choice| choice["const"].as_str())
        .collect();
    words.extend(
        definition["enum"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str),
    );
    match words.is_empty() {
        true => "map".to_owned(),
        false => words
            .iter()
            .map(|word| format!("`{word}`"))
            .collect::<Vec<_>>()
            .join(", "),
    }
}
