//! `GET /emi/runs/{id}/findings`: what a run found, the worst first.

use guest::emi::{self, Filter, Severity};
use guest::{
    ApiError, Openapi, Refusal, Request, Response, Route, integer, members, spelled, text, words,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::page::{LIMIT_DEFAULT, LIMIT_MAX};
use crate::{access, example, parsed, refusal, run};

/// Longest id of a rule, in characters.
const RULE_CHARS_MAX: usize = 64;

/// Longest cursor, in characters: findings are counted.
const CURSOR_CHARS_MAX: usize = 9;

/// Longest name of a net, in characters.
const NET_CHARS_MAX: usize = 1000;

pub(crate) const ROUTE: Route = Route {
    name: "emi.findings",
    method: "GET",
    pattern: "/emi/runs/{id}/findings",
    credentials: access::CREDENTIALS,
    scope: access::SCOPE,
    body_limit: 0,
    summary: "What a run found",
    openapi: Openapi::of(|operation| {
        let one = serde_json::from_str(example::FINDING).expect("the example is JSON");
        operation
            .description(
                "The same as `findings` of the artifact `rules.json`: at most 40 of a rule; the run's `summary` counts all.",
            )
            .path(run::ID.0, run::ID.1)
            .refusals(&[Refusal::Unfinished])
            .query::<Asked>()
            .reply(
                200,
                "One page, the worst first.",
                &Listed {
                    findings: Value::Array(vec![one]),
                    next: None,
                },
            );
    }),
    handle,
};

words! {
    const SEVERITIES: Severity = {
        Critical = "critical",
        Warning = "warning",
        Info = "info",
    };
}

members! {
    #[derive(Debug)]
    struct Asked {
        /// Findings of this severity alone.
        severity: Option<Severity> = optional(SEVERITIES.shape()),
        /// Of the rule with this id alone.
        rule: Option<String> = optional(text(1..=RULE_CHARS_MAX)),
        /// About the net of this name alone.
        net: Option<String> = optional(text(1..=NET_CHARS_MAX)),
        /// `next` of the page before; anything else is refused.
        cursor: Option<String> = optional(spelled(1..=CURSOR_CHARS_MAX, "0-9")),
        /// Entries of a page.
        limit: u32 = or(integer(1..=LIMIT_MAX), LIMIT_DEFAULT),
    }
}

/// A page of findings.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Findings")]
struct Listed<'a> {
    #[schemars(with = "Vec<Finding>")]
    findings: Value,
    /// Pass as `cursor` to go on; null at the end.
    next: Option<&'a str>,
}

/// Something that makes a board radiate, or sensitive.
#[derive(JsonSchema)]
#[allow(dead_code, reason = "only what the document says of it is used")]
pub(crate) struct Finding {
    /// Counts within a report.
    id: String,
    /// The same for the same mistake in another version of the board.
    fingerprint: String,
    #[schemars(extend("enum" = SEVERITIES.all()))]
    severity: String,
    /// Its id.
    rule: String,
    /// One line.
    title: String,
    /// What was measured.
    detail: String,
    /// Name; empty if it is about none.
    net: String,
    /// Name; empty if it is about none.
    layer: String,
    /// Millimetres from the left of the outline.
    x: f64,
    /// Millimetres from the bottom of the outline, upwards.
    y: f64,
    /// Left, bottom, right, top, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    bbox: Option<[f64; 4]>,
    at: Place,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<f64>,
    /// What the value was compared with.
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<f64>,
    /// Of value and limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    unit: Option<String>,
    assumed: Vec<String>,
}

/// A place in the coordinates of the source file.
#[derive(JsonSchema)]
#[schemars(rename = "Place")]
#[allow(dead_code, reason = "only what the document says of it is used")]
struct Place {
    x: f64,
    y: f64,
    /// The layer's name there; empty if none.
    layer: String,
    /// The line of the file on which that copper is, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    /// The part's reference.
    #[serde(skip_serializing_if = "Option::is_none")]
    footprint: Option<String>,
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = run::id(request);
    let Asked {
        severity,
        rule,
        net,
        cursor,
        limit,
    } = parse(request)?;
    let filter = Filter {
        severity,
        rule,
        net,
    };
    let (found, next) = emi::findings(id, &filter, limit, cursor.as_deref())
        .map_err(|error| refusal::of(error, "run", id))?;
    let listed = Listed {
        findings: parsed(&found)?,
        next: next.as_deref(),
    };
    Ok(Response::json(200, &listed))
}

fn parse(request: &Request) -> Result<Asked, ApiError> {
    request.query()?.read()
}

#[cfg(test)]
mod tests {
    use guest::emi::Severity;
    use guest::testing::{get, mutations};

    use super::parse;

    #[test]
    fn query() {
        let asked = parse(&get(&["r"], "severity=warning&net=%2B5F&limit=7")).unwrap();
        assert_eq!(asked.severity, Some(Severity::Warning));
        assert_eq!((asked.net.as_deref(), asked.limit), (Some("+5F"), 7));
        for (query, field) in [
            ("severity=bad", "severity"),
            ("rule=", "rule"),
            ("net=", "net"),
            ("limit=0", "limit"),
            ("cursor=c", "cursor"),
            ("layer=x", "layer"),
        ] {
            let error = parse(&get(&["r"], query)).unwrap_err();
            assert_eq!((error.status, error.fields[0].field.as_str()), (400, field));
        }
    }

    #[test]
    fn mutated_queries_never_panic() {
        mutations(
            0xE5,
            b"severity=info&rule=a&net=b&cursor=7&limit=5",
            5000,
            |query| {
                if let Ok(query) = std::str::from_utf8(query) {
                    let _ = parse(&get(&["r"], query));
                }
            },
        );
    }
}
