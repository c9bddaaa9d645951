//! The checker finds what it is there to find.

use serde_json::json;

use super::{check_route, fits};
use crate::{Object, Route};

fn route(openapi: &'static str) -> Route {
    Route {
        name: "things.get",
        method: "GET",
        pattern: "/things/{id}",
        credentials: &[],
        scope: None,
        body_limit: 0,
        summary: "A thing",
        openapi,
        handle: |_| Ok(Object::new().reply(200)),
    }
}

#[test]
fn finds_incomplete_members() {
    const ID: &str = r#""parameters":[{"name":"id","in":"path","required":true,"description":"d","schema":{"type":"string"}}]"#;
    let told = |rest: &str| {
        let text = format!("{{{ID}{rest}}}");
        check_route(&route(text.leak())).unwrap_err()
    };
    assert!(
        check_route(&route("["))
            .unwrap_err()
            .starts_with("not a JSON object")
    );
    assert_eq!(
        check_route(&route("{}")).unwrap_err(),
        "/things/{id} has other path parameters than []"
    );
    assert_eq!(told(""), "has no responses");
    assert_eq!(
        told(r#","responses":{"404":{}}"#),
        "404 is the host's to document"
    );
    assert_eq!(
        told(r#","responses":{"200":{"description":"d"}}"#),
        "200 has no content"
    );
    assert_eq!(
        told(r#","responses":{"200":{"description":"d","content":{"a/b":{"schema":{}}}}}"#),
        "200 a/b lacks schema or example"
    );
    assert_eq!(
        told(
            r#","responses":{"200":{"description":"d","content":{"a/b":{"schema":{"type":"string"},"example":1}}}}"#
        ),
        "200 a/b example 1 is not of type \"string\""
    );
    assert_eq!(
        told(r#","requestBody":{}"#),
        "requestBody and body_limit disagree"
    );
    let whole = format!("{{{ID},\"responses\":{{\"204\":{{\"description\":\"d\"}}}}}}");
    assert_eq!(check_route(&route(whole.leak())), Ok(()));
}

#[test]
fn examples_must_fit() {
    let schema = json!({
        "type": "object",
        "required": ["a"],
        "additionalProperties": false,
        "properties": {
            "a": {"type": ["integer", "null"], "minimum": 1, "maximum": 3},
            "b": {"type": "array", "items": {"enum": ["x", "y"]}},
            "c": {"oneOf": [{"type": "string"}, {"type": "number"}]}
        }
    });
    assert_eq!(
        fits(&json!({"a": 2, "b": ["x"], "c": 1.5}), &schema),
        Ok(())
    );
    for misfit in [
        json!([]),
        json!({}),
        json!({"a": 4}),
        json!({"a": 1.5}),
        json!({"a": 1, "b": ["z"]}),
        json!({"a": 1, "c": true}),
        json!({"a": 1, "d": 1}),
    ] {
        assert!(fits(&misfit, &schema).is_err(), "{misfit}");
    }
}
