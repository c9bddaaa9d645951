//! What is read is what is documented, and every problem is reported with its path.

use serde_json::{Value, json};

use super::prose;
use crate::{Fields, Members, choice, flag, integer, list, nested, number, text};

const EDGES: &[(&str, char)] = &[("rising", 'r'), ("falling", 'f')];

crate::members! {
    /// When it begins.
    #[derive(Debug, PartialEq)]
    struct Trigger {
        /// Logic-analyzer
        /// channel.
        channel: u8 = required(integer(1..=14)),
        edge: char = or(choice(EDGES), 'r'),
    }
}

crate::members! {
    /// What is asked for.
    ///
    /// At once.
    #[derive(Debug, PartialEq)]
    pub(super) struct Body {
        id: String = required(text(1..=8)),
        r#ref: Option<String> = optional(text(0..=usize::MAX)),
        rate: f64 = or(number(0.0, 24.0), 1.5),
        loud: bool = or(flag(), false),
        steps: Vec<Trigger> = or(list(nested(), 0..=2), Vec::new()),
        trigger: Option<Trigger> = optional(nested()),
        size: Size = inline(),
    }
}

crate::members! {
    #[derive(Debug, PartialEq)]
    pub(super) struct Size {
        samples: u32 = or(integer(1..=9), 4),
    }
}

fn read(body: &Value) -> Result<Body, crate::ApiError> {
    Fields::parse(body.to_string().as_bytes()).unwrap().read()
}

fn problems(body: &Value) -> Vec<String> {
    let error = read(body).unwrap_err();
    let line = |p: crate::FieldProblem| format!("{} {}", p.field, p.message);
    error.fields.into_iter().map(line).collect()
}

#[test]
fn reads_values_and_defaults() {
    let order = read(&json!({"id": "x", "rate": null})).unwrap();
    assert_eq!(
        (order.rate, order.loud, &order.trigger),
        (1.5, false, &None)
    );
    let order = read(&json!({
        "id": "x", "ref": "main", "steps": [{"channel": 1}],
        "trigger": {"channel": 2, "edge": "falling"}
    }));
    let order = order.unwrap();
    assert_eq!(order.r#ref.as_deref(), Some("main"));
    let (channel, edge) = (1, 'r');
    assert_eq!(order.steps, [Trigger { channel, edge }]);
    let (channel, edge) = (2, 'f');
    assert_eq!(order.trigger, Some(Trigger { channel, edge }));
}

#[test]
fn all_problems_are_told() {
    assert_eq!(
        problems(
            &json!({"rate": 0, "ref": 1, "trigger": {"edge": "up", "x": 1}, "samples": 0, "a": 1})
        ),
        [
            "id is required",
            "ref must be a string",
            "rate must be a number greater than 0 and at most 24",
            "trigger.channel is required",
            "trigger.edge must be one of rising, falling",
            "trigger.x is not known here",
            "samples must be an integer, 1..=9",
            "a is not known here",
        ]
    );
    assert_eq!(
        problems(&json!({"id": "x", "steps": [{"channel": 1}, {"channel": 15}], "trigger": 1})),
        [
            "steps item 1 has a wrong channel: must be an integer, 1..=14",
            "trigger must be an object, not a number"
        ]
    );
}

#[test]
fn text_is_read_by_what_it_stands_for() {
    let texts = |pairs: &[(&str, &str)]| {
        let owned = pairs
            .iter()
            .map(|(n, v)| ((*n).to_owned(), (*v).to_owned()));
        Fields::of_texts(owned.collect()).read::<Body>()
    };
    let order = texts(&[("id", "7"), ("rate", "2"), ("loud", "true")]).unwrap();
    assert_eq!((&*order.id, order.rate, order.loud), ("7", 2.0, true));
    assert_eq!(texts(&[("rate", "x")]).unwrap_err().fields.len(), 2);
}

#[test]
fn the_schema_is_of_what_is_read() {
    let trigger = json!({
        "type": "object",
        "description": "When it begins.",
        "required": ["channel"],
        "additionalProperties": false,
        "properties": {
            "channel": {
                "type": "integer", "minimum": 1, "maximum": 14,
                "description": "Logic-analyzer channel."
            },
            "edge": {
                "type": ["string", "null"], "enum": ["rising", "falling", null], "default": "rising"
            }
        }
    });
    let plain = r"^[^\u0000-\u001f\u007f-\u009f]*$";
    let mut nullable = trigger.clone();
    nullable["type"] = json!(["object", "null"]);
    assert_eq!(
        Value::from(Body::schema()),
        json!({
            "type": "object",
            "description": "What is asked for.\n\nAt once.",
            "required": ["id"],
            "additionalProperties": false,
            "properties": {
                "id": {"type": "string", "minLength": 1, "maxLength": 8, "pattern": plain},
                "ref": {"type": ["string", "null"], "pattern": plain},
                "rate": {
                    "type": ["number", "null"], "exclusiveMinimum": 0.0, "maximum": 24.0,
                    "default": 1.5
                },
                "loud": {"type": ["boolean", "null"], "default": false},
                "steps": {
                    "type": ["array", "null"], "minItems": 0, "maxItems": 2, "items": trigger,
                    "default": []
                },
                "trigger": nullable,
                "samples": {"type": ["integer", "null"], "minimum": 1, "maximum": 9, "default": 4}
            }
        })
    );
}

#[test]
fn doc_comments_are_paragraphs() {
    assert_eq!(prose(&[]), "");
    assert_eq!(prose(&[" a", " b", "", " c"]), "a b\n\nc");
}
