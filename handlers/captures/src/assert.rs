//! `POST /capture/{id}/assert`: what rules about its signals come to.

use guest::assertions::{self, Problem, Refusal as Refused};
use guest::{
    ApiError, Body, JSON_BODY_BYTES_MAX, Openapi, Refusal, Request, Response, Route, TextProblem,
    lines, members, object,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::{capture, export};

/// Longest text of rules, in characters; the format allows as many bytes.
const RULES_CHARS_MAX: usize = 256 << 10;

pub(crate) const ROUTE: Route = Route {
    name: "captures.assert",
    method: "POST",
    pattern: "/capture/{id}/assert",
    credentials: capture::CREDENTIALS,
    scope: capture::SCOPE,
    body_limit: JSON_BODY_BYTES_MAX,
    summary: "Judge a capture by rules",
    openapi: Openapi::of(|operation| {
        operation
            .refusals(&[Refusal::WrongState, Refusal::InvalidDefinition])
            .path(capture::ID.0, capture::ID.1)
            .body::<Asked>(json!({"rules": rules()}))
            .reply(
                200,
                "What each rule comes to, in its order; docs/assertions.md has the rules. Golden files are not taken.",
                &example(),
            );
    }),
    handle,
};

/// For the documentation.
fn rules() -> Value {
    json!({
        "version": 1,
        "rules": [{"name": "reset is held", "pulse": {"channel": "LA2", "level": "low", "min": "10us"}}],
    })
}

members! {
    #[derive(Debug, PartialEq)]
    struct Asked {
        /// Rules, as a file of them has them; docs/assertions.md has all kinds.
        rules: Option<Map<String, Value>> = optional(object()),
        /// The text of such a file, in place of `rules`: lines and columns of what is wrong are those of the text.
        rules_yaml: Option<String> = optional(lines(1..=RULES_CHARS_MAX)),
    }
}

/// What all rules come to.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Assertions")]
struct Record {
    /// Rules that hold.
    passed: u32,
    /// Rules that do not hold.
    failed: u32,
    /// Rules that cannot be judged on this capture.
    errors: u32,
    rules: Vec<Judged>,
}

/// What a rule comes to.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Assertion")]
struct Judged {
    name: &'static str,
    /// Its kind, as it is written.
    kind: &'static str,
    verdict: Verdict,
    /// What it asks for, in a sentence.
    wanted: &'static str,
    /// What was seen, in a sentence.
    seen: &'static str,
    /// Of a rule that fails the worst place, of one that holds where it was nearest to failing.
    place: Option<Place>,
    /// How far it was from the other verdict: negative if it fails.
    margin: Option<Margin>,
    /// How many places fail.
    found: u64,
    /// The first of them.
    places: Vec<Place>,
}

/// Whether a rule holds.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "AssertionVerdict")]
#[allow(dead_code, reason = "the document has them all")]
enum Verdict {
    Passed,
    Failed,
    Error,
}

/// A part of a capture; times are seconds from the trigger.
#[derive(Clone, Serialize, JsonSchema)]
#[schemars(rename = "AssertionPlace")]
struct Place {
    channel: &'static str,
    from_sample: u64,
    to_sample: u64,
    from_s: f64,
    to_s: f64,
}

/// How near a rule was.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AssertionMargin")]
struct Margin {
    value: f64,
    /// `s`, `Hz`, `V`, `A`, `%` or `count`.
    unit: &'static str,
}

fn example() -> Record {
    let place = Place {
        channel: "LA2",
        from_sample: 14_400,
        to_sample: 14_496,
        from_s: 0.0012,
        to_s: 0.001_208,
    };
    let judged = Judged {
        name: "reset is held",
        kind: "pulse",
        verdict: Verdict::Failed,
        wanted: "each low pulse of LA2 at least 10us long",
        seen: "1 of 1 pulse not so; the worst has 8 us low, at 1.2 ms",
        place: Some(place.clone()),
        margin: Some(Margin {
            value: -0.000_002,
            unit: "s",
        }),
        found: 1,
        places: vec![place],
    };
    Record {
        passed: 0,
        failed: 1,
        errors: 0,
        rules: vec![judged],
    }
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let rules = parse(request)?;
    let id = capture::id(request);
    let judged = assertions::judge(id, &rules);
    judged.map(reply).map_err(|refused| refusal(refused, id))
}

/// The text of the rules.
fn parse(request: &Request) -> Result<String, ApiError> {
    let Asked { rules, rules_yaml } = request.json()?.read()?;
    match (rules, rules_yaml) {
        (Some(rules), None) => Ok(Value::Object(rules).to_string()),
        (None, Some(text)) => Ok(text),
        (None, None) => Err(ApiError::field(
            "rules",
            "is required, or the text of a file in `rules_yaml`",
        )),
        (Some(_), Some(_)) => Err(ApiError::field(
            "rules_yaml",
            "cannot stand beside `rules`: one of both has the rules",
        )),
    }
}

fn reply(judged: String) -> Response {
    Response {
        status: 200,
        headers: vec![("content-type".to_owned(), "application/json".to_owned())],
        body: Body::Bytes(judged.into_bytes()),
    }
}

fn refusal(refused: Refused, id: &str) -> ApiError {
    match refused {
        Refused::Capture(error) => export::refusal(error, id),
        Refused::Rules(problems) => definition(problems),
        Refused::Late(sentence) => ApiError::field("rules".to_owned(), sentence),
    }
}

fn definition(problems: Vec<Problem>) -> ApiError {
    let first = problems.first().map(|problem| {
        let Problem {
            line,
            column,
            message,
            ..
        } = problem;
        format!("the rules are wrong in line {line}, column {column}: {message}")
    });
    let problems = problems.into_iter().map(|problem| TextProblem {
        line: problem.line,
        column: problem.column,
        code: problem.code,
        path: problem.path,
        message: problem.message,
    });
    let sentence = first.unwrap_or_else(|| "the rules are wrong".to_owned());
    ApiError::of(Refusal::InvalidDefinition, sentence).problems(problems.collect())
}

#[cfg(test)]
mod tests {
    use guest::assertions::{Problem, Refusal as Refused};
    use guest::recordings::Error;
    use guest::testing::{json, request};

    use super::{parse, refusal, reply, rules};

    #[test]
    fn rules_are_an_object_or_a_text() {
        let body = serde_json::json!({"rules": rules()}).to_string();
        let text: serde_json::Value =
            serde_json::from_str(&parse(&request(&body)).unwrap()).unwrap();
        assert_eq!(text, rules());
        let yaml = "version: 1\nrules:\n  - name: a\n";
        let body = serde_json::json!({"rules_yaml": yaml}).to_string();
        assert_eq!(parse(&request(&body)).unwrap(), yaml);
        let long = format!(r#"{{"rules_yaml":"{}"}}"#, "x".repeat((256 << 10) + 1));
        for (body, field) in [
            ("{}", "rules"),
            (r#"{"rules":"a"}"#, "rules"),
            (r#"{"rules":[]}"#, "rules"),
            (r#"{"rules":{},"x":1}"#, "x"),
            (r#"{"rules_yaml":""}"#, "rules_yaml"),
            (r#"{"rules_yaml":{}}"#, "rules_yaml"),
            (r#"{"rules":{},"rules_yaml":"a"}"#, "rules_yaml"),
            (&long, "rules_yaml"),
        ] {
            let error = parse(&request(body)).unwrap_err();
            assert_eq!((error.status, &*error.fields[0].field), (400, field));
        }
        assert_eq!(json(&reply(r#"{"passed":1}"#.to_owned()))["passed"], 1);
    }

    #[test]
    fn what_is_wrong_with_rules_is_told_with_its_place() {
        let problem = Problem {
            line: 3,
            column: 5,
            code: "unknown_key".into(),
            path: "rules[0].plse".into(),
            message: "there is no key `plse` here".into(),
        };
        let refused = refusal(Refused::Rules(vec![problem]), "01X");
        assert_eq!(refused.status, 422);
        assert!(
            refused.message.contains("line 3, column 5"),
            "{}",
            refused.message
        );
        assert_eq!(
            refusal(Refused::Capture(Error::NotFound), "01X").status,
            404
        );
        assert_eq!(
            refusal(Refused::Late("take less".into()), "01X").status,
            400
        );
    }
}
