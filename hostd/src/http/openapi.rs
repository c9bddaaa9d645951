//! The OpenAPI 3.1 document, built from the routes that the handlers declare.
//!
//! A handler gives parameters, request body, success responses and the codes of its own refusals, in the
//! description made when it was built or, without one, in its routes. What the host itself enforces
//! (credentials, scopes, limits and their error answers) is added here, so it can be neither forgotten nor
//! contradictory.

use std::collections::BTreeMap;

use runtime::{Credentials, Route};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::http::routes::{API_BASE, RouteTable, SOCKET, http_method};

mod codes;
mod described;
mod security;

use codes::Code;
pub use described::Descriptions;
use described::{Members, text};

/// Why a route cannot be documented.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    #[error("route {name}: its OpenAPI members are not a JSON object of the right shape")]
    Members {
        name: String,
        #[source]
        source: serde_json::Error,
    },
    #[error("route {name} is described nowhere")]
    NotDescribed { name: String },
    #[error("there is no route {name}, which is described")]
    NoRoute { name: String },
    #[error("route {name}: its refusal {code} is not in docs/http-status.md")]
    Code { name: String, code: String },
}

/// The members of the document. What handlers say in it stays the text that they gave: parsed to the last leaf,
/// it would be half of what the server does at its start.
#[derive(Serialize)]
struct Document {
    components: Components,
    info: Value,
    openapi: &'static str,
    paths: BTreeMap<String, BTreeMap<String, Members>>,
    servers: Value,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Components {
    examples: Map<String, Value>,
    responses: Map<String, Value>,
    schemas: Members,
    security_schemes: Value,
}

/// Build the document. The order of paths and members does not depend on load order.
///
/// # Errors
/// A route has no description or one that is not a JSON object, or a description has no route.
pub fn document(
    table: &RouteTable,
    mut descriptions: Descriptions,
) -> Result<String, DocumentError> {
    let codes = codes::all();
    let paths = described(table, &mut descriptions, &codes)?;
    let mut schemas = descriptions.finish()?;
    schemas.insert("Error".to_owned(), text(&error_schema()));
    let document = Document {
        components: Components {
            examples: codes::examples(&codes),
            responses: shared_responses(),
            schemas,
            security_schemes: security::schemes(),
        },
        info: json!({
            "title": "hostd",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "Drive bench devices over HTTP: power, firmware, captures, decoding, leases.",
            "license": {"name": "Apache-2.0 OR MIT", "identifier": "Apache-2.0 OR MIT"}
        }),
        openapi: "3.1.0",
        paths,
        servers: json!([{"url": "/"}]),
    };
    Ok(text(&document).get().to_owned())
}

/// Operations by path and method.
type Operations = BTreeMap<String, BTreeMap<String, Members>>;

fn described(
    table: &RouteTable,
    descriptions: &mut Descriptions,
    codes: &[Code],
) -> Result<Operations, DocumentError> {
    let mut paths = Operations::new();
    let mut routes: Vec<&Route> = table.iter().map(|e| &e.declared).collect();
    routes.sort_by(|a, b| (&a.pattern, &a.method).cmp(&(&b.pattern, &b.method)));
    for route in routes {
        let path = format!("{API_BASE}{}", route.pattern.replace("...}", "}"));
        paths.entry(path).or_default().insert(
            http_method(route).to_lowercase(),
            operation(route, descriptions, codes)?,
        );
    }
    Ok(paths)
}

/// A plugin's part of the document.
#[derive(Debug)]
pub struct Paths(BTreeMap<String, Box<RawValue>>);

/// Describe routes that bring their descriptions along.
///
/// # Errors
/// A route has none, or one that is not a JSON object.
pub fn paths(table: &RouteTable) -> Result<Paths, DocumentError> {
    let paths = described(table, &mut Descriptions::default(), &codes::all())?;
    let told = paths
        .iter()
        .map(|(path, methods)| (path.clone(), text(methods)));
    Ok(Paths(told.collect()))
}

/// The `document` with more paths in it.
///
/// # Panics
/// The document is none that [`document`] made.
#[must_use]
pub fn extended<'p>(document: &str, more: impl Iterator<Item = &'p Paths>) -> String {
    let mut members: BTreeMap<&str, &RawValue> =
        serde_json::from_str(document).expect("the document is a JSON object");
    let own = members.remove("paths").map_or("{}", RawValue::get);
    let mut all: BTreeMap<&str, &RawValue> =
        serde_json::from_str(own).expect("its paths are a JSON object");
    for Paths(paths) in more {
        all.extend(paths.iter().map(|(path, told)| (path.as_str(), &**told)));
    }
    let all = text(&all);
    members.insert("paths", &all);
    text(&members).get().to_owned()
}

fn operation(
    route: &Route,
    descriptions: &mut Descriptions,
    codes: &[Code],
) -> Result<Members, DocumentError> {
    let malformed = |source| DocumentError::Members {
        name: route.name.clone(),
        source,
    };
    let mut operation = match descriptions.take(&route.name) {
        Some(members) => members,
        None if route.openapi.is_empty() => {
            let name = route.name.clone();
            return Err(DocumentError::NotDescribed { name });
        }
        None => serde_json::from_str(&route.openapi).map_err(malformed)?,
    };
    let refusals = match operation.remove("refusals") {
        Some(words) => serde_json::from_str(words.get()).map_err(malformed)?,
        None => Vec::new(),
    };
    let mut responses: Members = match operation.remove("responses") {
        Some(responses) => serde_json::from_str(responses.get()).map_err(malformed)?,
        None => Members::new(),
    };
    for status in error_statuses(route) {
        responses
            .entry(status.to_string())
            .or_insert_with(|| shared(&format!("E{status}")));
    }
    for (status, own) in own_refusals(route, &refusals, codes)? {
        responses.insert(status.to_string(), text(&own_response(status, &own)));
    }
    // Errors before the route is known, such as a head that is too long: the shape is the same.
    responses
        .entry("default".to_owned())
        .or_insert_with(|| shared("Error"));
    let tag = route.name.split('.').next().unwrap_or(&route.name);
    let mut add = |name: &str, value| operation.insert(name.to_owned(), value);
    add("operationId", text(&route.name));
    add("responses", text(&responses));
    add("security", text(&security::of(route)));
    add("summary", text(&route.summary));
    add("tags", text(&[tag]));
    if let Some(scope) = &route.scope {
        add("x-required-scope", text(scope));
    }
    if route.body_limit > 0 {
        add("x-body-bytes-max", text(&route.body_limit));
    }
    Ok(operation)
}

/// A reference to one of the responses that all routes share.
fn shared(name: &str) -> Box<RawValue> {
    text(&json!({"$ref": format!("#/components/responses/{name}")}))
}

/// Statuses with which the host itself may refuse a request to a route.
fn error_statuses(route: &Route) -> Vec<u16> {
    let mut statuses = vec![400, 404, 500, 503, 504];
    if route.method == SOCKET {
        statuses.push(426);
    } else if route.method != "GET" {
        statuses.push(507);
    }
    if route.credentials != Credentials::empty() {
        statuses.extend([401, 403, 429]);
    }
    if route.body_limit > 0 {
        statuses.extend([408, 413, 415, 429]);
    }
    statuses.sort_unstable();
    statuses.dedup();
    statuses
}

/// The codes that the handler declares, by status.
fn own_refusals<'c>(
    route: &Route,
    refusals: &[String],
    codes: &'c [Code],
) -> Result<BTreeMap<u16, Vec<&'c str>>, DocumentError> {
    let mut by_status: BTreeMap<u16, Vec<&str>> = BTreeMap::new();
    for word in refusals {
        let code = codes.iter().find(|code| code.word == *word);
        let code = code.ok_or_else(|| DocumentError::Code {
            name: route.name.clone(),
            code: word.clone(),
        })?;
        by_status.entry(code.status).or_default().push(&code.word);
    }
    Ok(by_status)
}

/// A response with a route's own codes in addition to those that any route may answer with.
fn own_response(status: u16, own: &[&str]) -> Value {
    let shared = SHARED.iter().find(|(shared, ..)| *shared == status);
    let (description, general) = match shared {
        Some((_, description, general)) => (*description, *general),
        None => (
            "What was asked for cannot be done now; `code` says why.",
            &[][..],
        ),
    };
    let words: Vec<&str> = general.iter().chain(own).copied().collect();
    codes::response(description, &words)
}

fn error_schema() -> Value {
    json!({
        "type": "object",
        "required": ["error", "code", "request_id"],
        "properties": {
            "error": {"type": "string", "description": "A sentence that says what to do."},
            "code": {"type": "string", "description": "A stable word for programs."},
            "request_id": {"type": "string", "description": "Also in the header x-request-id and in the server's log."},
            "fields": {
                "type": "array",
                "description": "Members of the request that are to blame.",
                "items": {
                    "type": "object",
                    "required": ["field", "message"],
                    "properties": {"field": {"type": "string"}, "message": {"type": "string"}}
                }
            },
            "reason": {"type": "string", "description": "With `archive_refused` and `archive_too_large`: a stable, finer word."},
            "problems": {
                "type": "array",
                "description": "With `invalid_definition`: what is wrong with the pipeline, at most 50 problems.",
                "items": {
                    "type": "object",
                    "required": ["line", "column", "code", "path", "message"],
                    "properties": {
                        "line": {"type": "integer", "minimum": 1},
                        "column": {"type": "integer", "minimum": 1, "description": "In characters."},
                        "code": {"type": "string", "description": "A stable word."},
                        "path": {"type": "string", "description": "The value it is about, as `builds[0].steps`; empty for the whole text."},
                        "message": {"type": "string"}
                    }
                }
            },
            "busy": {"type": "boolean", "description": "With `lease_held`: true."},
            "holder": {"type": ["string", "null"], "description": "With `lease_held`: who holds the device."},
            "expires_at": {"type": ["string", "null"], "format": "date-time", "description": "With `lease_held`: until when."},
            "queue_place": {"type": "integer", "minimum": 1, "description": "With `lease_held`: the caller's place among those who wait."}
        }
    })
}

/// `components.responses`.
fn shared_responses() -> Map<String, Value> {
    let mut all: Map<String, Value> = SHARED
        .iter()
        .map(|(status, text, words)| (format!("E{status}"), codes::response(text, words)))
        .collect();
    let text = "Any other refusal; `code` tells which.";
    let words = ["method_not_allowed", "path_too_long"];
    all.insert("Error".into(), codes::response(text, &words));
    all
}

/// The host's own answers, on any route, and codes that any handler may use.
const SHARED: [(u16, &str, &[&str]); 13] = [
    (
        400,
        "The request is malformed.",
        &["invalid_request", "body_incomplete"],
    ),
    (
        401,
        "No credential, or one that is invalid, expired or revoked.",
        &[
            "missing_credential",
            "invalid_credential",
            "expired_credential",
            "revoked_credential",
        ],
    ),
    (
        403,
        "The credential is of another kind, or lacks the scope or the role.",
        &[
            "missing_scope",
            "wrong_credential",
            "not_for_jobs",
            "forbidden",
            "foreign_origin",
        ],
    ),
    (404, "Not found, or another organisation's.", &["not_found"]),
    (408, "The body did not arrive in time.", &["body_timeout"]),
    (
        413,
        "The body is over the limit of this endpoint.",
        &["body_too_large"],
    ),
    (
        415,
        "The body is not of a supported media type.",
        &["unsupported_media_type"],
    ),
    (426, "The endpoint is a WebSocket.", &["upgrade_required"]),
    (
        429,
        "Too many requests with one credential, or uploads of one user (`Retry-After`).",
        &["rate_limited", "too_many_sockets", "too_many_uploads"],
    ),
    (
        500,
        "The server failed; its log has the details under the request id.",
        &["internal"],
    ),
    (
        503,
        "The server or what it needs is not available (`Retry-After`).",
        &["overloaded"],
    ),
    (504, "No answer in time.", &["handler_timeout"]),
    (507, "The disk of the server is full.", &["no_space"]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_codes_have_the_status_of_the_page() {
        let codes = codes::all();
        for (status, _, words) in SHARED {
            for word in words {
                let code = codes.iter().find(|code| code.word == *word);
                assert_eq!(code.map(|code| code.status), Some(status), "{word}");
            }
        }
    }
}
