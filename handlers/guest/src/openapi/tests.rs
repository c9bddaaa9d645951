//! What a route declares with types is what the document says.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use super::{Openapi, Schemas, Time};
use crate::{Refusal, integer};

crate::members! {
    #[derive(Debug)]
    struct Asked {
        /// How many.
        count: u32 = required(integer(1..=9)),
        /// From where.
        from: u32 = or(integer(0..=9), 3),
    }
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum Kind {
    One,
}

/// A part.
#[derive(Serialize, JsonSchema)]
struct Part {
    bytes: u64,
}

#[derive(Serialize, JsonSchema)]
struct Thing {
    /// What
    /// it is.
    kind: Kind,
    #[schemars(with = "Option<Time>")]
    made: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-null" = true))]
    holder: Option<Option<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<Part>,
}

fn thing() -> Thing {
    Thing {
        kind: Kind::One,
        made: None,
        note: None,
        holder: Some(None),
        part: Some(Part { bytes: 1 }),
    }
}

#[test]
fn parameters_and_bodies() {
    let mut schemas = Schemas::default();
    let told = Openapi::of(|operation| {
        operation
            .description("More.")
            .refusals(&[Refusal::LeaseHeld])
            .path("id", "Thing id.")
            .query::<Asked>()
            .other_queries("options", "All else.")
            .header("X-A", "A header.")
            .body::<Asked>(json!({"count": 1}))
            .form::<Asked>("file", "The file.", json!({"file": "x", "count": 1}))
            .reply_empty(204, "Done.");
    })
    .members(&mut schemas);
    assert!(schemas.finish().is_empty());
    assert_eq!(
        (&told["description"], &told["refusals"]),
        (&json!("More."), &json!(["lease_held", "lease_lost"]))
    );
    assert_eq!(
        told["parameters"],
        json!([
            {"name": "id", "in": "path", "required": true, "description": "Thing id.",
                "schema": {"type": "string"}},
            {"name": "count", "in": "query", "required": true, "description": "How many.",
                "schema": {"type": "integer", "minimum": 1, "maximum": 9}},
            {"name": "from", "in": "query", "description": "From where.",
                "schema": {"type": "integer", "minimum": 0, "maximum": 9, "default": 3}},
            {"name": "options", "in": "query", "description": "All else.",
                "schema": {"type": "object", "additionalProperties": {"type": "string"}},
                "style": "form", "explode": true},
            {"name": "X-A", "in": "header", "description": "A header.", "schema": {"type": "string"}}
        ])
    );
    let content = &told["requestBody"]["content"];
    let json = &content["application/json"];
    assert_eq!(json["example"], json!({"count": 1}));
    assert_eq!(
        json["schema"]["properties"]["from"]["type"],
        json!(["integer", "null"])
    );
    let form = &content["multipart/form-data"]["schema"];
    assert_eq!(form["required"], json!(["file", "count"]));
    assert_eq!(form["properties"]["from"]["type"], "integer");
    assert_eq!(told["responses"], json!({"204": {"description": "Done."}}));
}

#[test]
fn a_body_may_be_left_out() {
    let required = |openapi: Openapi| {
        openapi.members(&mut Schemas::default())["requestBody"]["required"].clone()
    };
    let always = Openapi::of(|operation| {
        operation.body::<Asked>(json!({"count": 1}));
    });
    let at_times = Openapi::of(|operation| {
        operation
            .body::<Asked>(json!({"count": 1}))
            .body_may_be_absent();
    });
    assert_eq!(
        (required(always), required(at_times)),
        (json!(true), json!(false))
    );
}

#[test]
fn records_are_named_once() {
    let mut schemas = Schemas::default();
    let told = Openapi::of(|operation| {
        operation.reply(200, "It.", &thing());
    })
    .members(&mut schemas);
    assert_eq!(
        told["responses"]["200"]["content"]["application/json"],
        json!({
            "schema": {"$ref": "#/components/schemas/Thing"},
            "example": {"kind": "one", "made": null, "holder": null, "part": {"bytes": 1}}
        })
    );
    assert_eq!(
        json!(schemas.finish()),
        json!({
            "Part": {
                "type": "object",
                "description": "A part.",
                "required": ["bytes"],
                "properties": {"bytes": {"type": "integer", "minimum": 0}}
            },
            "Thing": {
                "type": "object",
                "required": ["kind", "made"],
                "properties": {
                    "kind": {"type": "string", "enum": ["one"], "description": "What it is."},
                    "made": {"type": ["string", "null"], "format": "date-time"},
                    "note": {"type": "string"},
                    "holder": {"type": ["string", "null"]},
                    "part": {"$ref": "#/components/schemas/Part"}
                }
            }
        })
    );
}

#[test]
fn a_text_is_taken_as_it_is() {
    let members = Openapi::text("{\"responses\": {}}").members(&mut Schemas::default());
    assert_eq!(json!(members), json!({"responses": {}}));
}
