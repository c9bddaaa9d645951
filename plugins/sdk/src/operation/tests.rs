//! What is told of types is what their endpoints read and answer.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Operation, OperationError};

/// In which order.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Order {
    /// The newest
    /// first.
    NewestFirst,
    Name,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Unit {
    Volts,
    Amperes,
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its shape matters")]
struct Asked {
    /// Part of
    /// the name.
    ///
    /// Case counts.
    name: String,
    order: Option<Order>,
    unit: Option<Unit>,
    #[serde(default)]
    open: bool,
    #[schemars(range(max = 100))]
    page: Option<u16>,
}

/// A warning.
#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its shape matters")]
struct Warning {
    rail: u8,
    #[serde(rename = "mA")]
    milliamperes: Option<u32>,
}

/// All that there is.
#[derive(Serialize, JsonSchema)]
struct Told {
    /// Milliseconds since 1970.
    at_ms: u64,
    things: Vec<Thing>,
    #[schemars(range(min = 1, max = 9))]
    level: u8,
    share: f64,
    first: Option<Thing>,
    last: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Thing {
    name: String,
}

fn told(operation: Operation) -> Value {
    operation.finish().unwrap()
}

#[test]
fn a_query_is_a_parameter_for_each_member() {
    let told = told(
        Operation::new()
            .path("id", "Thing id.")
            .query::<Asked>()
            .reply_empty(204, "Done."),
    );
    let order = json!({"oneOf": [
        {"type": "string", "enum": ["name"]},
        {"type": "string", "const": "newest_first", "description": "The newest first."},
    ]});
    let mut expected = vec![
        json!({"name": "id", "in": "path", "required": true, "description": "Thing id.",
            "schema": {"type": "string"}}),
        json!({"name": "name", "in": "query", "required": true,
            "description": "Part of the name.\n\nCase counts.", "schema": {"type": "string"}}),
        json!({"name": "open", "in": "query", "schema": {"type": "boolean", "default": false}}),
        json!({"name": "order", "in": "query", "description": "In which order.", "schema": order}),
        json!({"name": "page", "in": "query",
            "schema": {"type": "integer", "minimum": 0, "maximum": 100}}),
        json!({"name": "unit", "in": "query",
            "schema": {"type": "string", "enum": ["volts", "amperes"]}}),
    ];
    let mut parameters = told["parameters"].as_array().unwrap().clone();
    for list in [&mut parameters, &mut expected] {
        list.sort_by_key(|parameter| parameter["name"].to_string());
    }
    assert_eq!(parameters, expected);
    assert_eq!(told["responses"], json!({"204": {"description": "Done."}}));
    assert_eq!(told.get("requestBody"), None);
}

#[test]
fn a_body_is_bounded_by_what_its_type_can_hold() {
    let told = told(Operation::new().body::<Warning>().reply_empty(204, "Done."));
    let schema = json!({
        "type": "object",
        "description": "A warning.",
        "required": ["rail"],
        "properties": {
            "rail": {"type": "integer", "minimum": 0, "maximum": 255},
            "mA": {"type": ["integer", "null"], "minimum": 0},
        },
    });
    let content = json!({"application/json": {"schema": schema}});
    let expected = json!({"required": true, "content": content});
    assert_eq!(told["requestBody"], expected);
    assert_eq!(told.get("parameters"), None);
}

#[test]
fn an_answer_promises_no_more_than_its_author_wrote() {
    let told = told(
        Operation::new()
            .reply::<Told>(200, "Everything.")
            .reply_text(200, "Everything.", "text/csv")
            .reply::<Vec<String>>(202, "Names."),
    );
    let thing = |kind: Value| json!({"type": kind, "required": ["name"], "properties": {"name": {"type": "string"}}});
    let schema = json!({
        "type": "object",
        "required": ["at_ms", "things", "level", "share"],
        "properties": {
            "at_ms": {"type": "integer", "description": "Milliseconds since 1970."},
            "things": {"type": "array", "items": thing(json!("object"))},
            "level": {"type": "integer", "minimum": 1, "maximum": 9},
            "share": {"type": "number"},
            "first": thing(json!(["object", "null"])),
            "last": {"type": ["integer", "null"]},
            "note": {"type": ["string", "null"]},
        },
    });
    let names = json!({"type": "array", "items": {"type": "string"}});
    let expected = json!({
        "200": {
            "description": "Everything.",
            "content": {
                "application/json": {"schema": schema},
                "text/csv": {"schema": {"type": "string"}},
            },
        },
        "202": {"description": "Names.", "content": {"application/json": {"schema": names}}},
    });
    assert_eq!(told["responses"], expected);
}

fn refusal(operation: Operation) -> String {
    operation.finish().unwrap_err().to_string()
}

#[test]
fn a_query_that_is_no_struct_is_refused() {
    let with = |operation: Operation| refusal(operation.reply_empty(204, "Done."));
    for refused in [
        with(Operation::new().query::<Vec<String>>()),
        with(Operation::new().query::<u32>()),
        with(Operation::new().query::<Order>()),
        with(Operation::new().query::<BTreeMap<String, String>>()),
    ] {
        assert!(
            refused.contains("which is no struct with members"),
            "{refused}"
        );
    }
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its shape matters")]
struct Lists {
    #[serde(default)]
    names: Vec<String>,
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its shape matters")]
struct Nested {
    warning: Option<Warning>,
}

#[test]
fn members_of_a_query_that_no_text_can_be_are_refused() {
    let lists = refusal(Operation::new().query::<Lists>());
    assert!(lists.contains("Lists: names is no text"), "{lists}");
    let nested = refusal(Operation::new().query::<Nested>());
    assert!(nested.contains("Nested: warning is no text"), "{nested}");
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Tree {
    children: Vec<Tree>,
}

#[test]
fn what_contains_itself_is_refused() {
    for refused in [
        refusal(Operation::new().reply::<Tree>(200, "A tree.")),
        refusal(Operation::new().reply::<Option<Tree>>(200, "A tree.")),
        refusal(Operation::new().body::<Vec<Tree>>()),
        refusal(Operation::new().query::<Tree>()),
    ] {
        assert!(refused.ends_with("which contains itself"), "{refused}");
    }
}

#[test]
fn the_first_refusal_counts_and_an_answer_must_be_there() {
    let first = Operation::new().body::<Tree>().query::<u32>();
    assert!(refusal(first).contains("Tree"));
    let silent = Operation::new().body::<Warning>().finish();
    assert!(matches!(silent, Err(OperationError::NoReply)));
}
