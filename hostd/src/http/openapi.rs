//! The OpenAPI 3.1 document, built from the routes that the handlers declare.
//!
//! A handler gives parameters, request body and success responses of each operation; what the host
//! enforces itself (credentials, scopes, the error answers) is added here, so it cannot be
//! forgotten or contradict what is enforced.

use runtime::{Credentials, Route};
use serde_json::{Map, Value, json};

use crate::http::routes::{API_BASE, RouteTable, SOCKET, http_method};

/// Why a route cannot be documented.
#[derive(Debug, thiserror::Error)]
#[error("route {name}: its OpenAPI members are not a JSON object")]
pub struct DocumentError {
    name: String,
    #[source]
    source: Option<serde_json::Error>,
}

/// Build the document. The order of paths and members does not depend on load order.
///
/// # Errors
/// A route whose `openapi` text is not a JSON object.
pub fn document(table: &RouteTable) -> Result<Value, DocumentError> {
    let mut paths: Map<String, Value> = Map::new();
    let mut routes: Vec<&Route> = table.iter().map(|e| &e.declared).collect();
    routes.sort_by(|a, b| (&a.pattern, &a.method).cmp(&(&b.pattern, &b.method)));
    for route in routes {
        let path = format!("{API_BASE}{}", route.pattern.replace("...}", "}"));
        paths
            .entry(path)
            .or_insert_with(|| json!({}))
            .as_object_mut()
            .expect("only objects are inserted")
            .insert(http_method(route).to_lowercase(), operation(route)?);
    }
    Ok(json!({
        "openapi": "3.1.0",
        "info": {
            "title": "hostd",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "Drive bench devices over HTTP: power, captures, decoding, keys.",
            "license": {"name": "Apache-2.0 OR MIT", "identifier": "Apache-2.0 OR MIT"}
        },
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {
            "securitySchemes": security_schemes(),
            "schemas": {"Error": error_schema()},
            "responses": error_responses()
        }
    }))
}

fn operation(route: &Route) -> Result<Value, DocumentError> {
    let members: Map<String, Value> =
        serde_json::from_str(&route.openapi).map_err(|source| DocumentError {
            name: route.name.clone(),
            source: Some(source),
        })?;
    let mut operation = Map::new();
    operation.insert("operationId".into(), json!(route.name));
    operation.insert("summary".into(), json!(route.summary));
    let tag = route.name.split('.').next().unwrap_or(&route.name);
    operation.insert("tags".into(), json!([tag]));
    operation.extend(members);
    let security = security(route);
    let responses = operation
        .entry("responses")
        .or_insert_with(|| json!({}))
        .as_object_mut()
        .ok_or_else(|| DocumentError {
            name: route.name.clone(),
            source: None,
        })?;
    for status in error_statuses(route) {
        responses
            .entry(status.to_string())
            .or_insert_with(|| json!({"$ref": format!("#/components/responses/E{status}")}));
    }
    // Conflicts, timeouts and the like: whatever the status, the shape is the same.
    responses
        .entry("default")
        .or_insert_with(|| json!({"$ref": "#/components/responses/Error"}));
    operation.insert("security".into(), security);
    if let Some(scope) = &route.scope {
        operation.insert("x-required-scope".into(), json!(scope));
    }
    if route.body_limit > 0 {
        operation.insert("x-body-bytes-max".into(), json!(route.body_limit));
    }
    Ok(Value::Object(operation))
}

fn error_statuses(route: &Route) -> Vec<u16> {
    let mut statuses = vec![400, 404, 500, 503];
    if route.method == SOCKET {
        statuses.push(426);
    }
    if route.credentials != Credentials::empty() {
        statuses.extend([401, 403]);
    }
    if route.body_limit > 0 {
        statuses.extend([408, 413, 415]);
    }
    statuses.sort_unstable();
    statuses
}

fn security(route: &Route) -> Value {
    let scopes: Vec<&String> = route.scope.iter().collect();
    let schemes = [
        (Credentials::API_KEY, "apiKey"),
        (Credentials::USER_SESSION, "userSession"),
        (Credentials::CLOUD_SESSION, "cloudSession"),
    ];
    schemes
        .iter()
        .filter(|(bit, _)| route.credentials.contains(*bit))
        .map(|(_, name)| json!({*name: scopes}))
        .collect()
}

fn security_schemes() -> Value {
    json!({
        "apiKey": {
            "type": "apiKey",
            "in": "header",
            "name": "Authorization",
            "description": "`Authorization: ApiKey <prefix>_<kid>_<secret>`"
        },
        "userSession": {
            "type": "http",
            "scheme": "bearer",
            "description": "Session of a signed-in person, from `POST /api/auth/session`; the cookie `hostd_session` works as well."
        },
        "cloudSession": {
            "type": "http",
            "scheme": "bearer",
            "bearerFormat": "JWT",
            "description": "Short-lived token from `POST /api/auth/token`."
        }
    })
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
                "items": {
                    "type": "object",
                    "required": ["field", "message"],
                    "properties": {"field": {"type": "string"}, "message": {"type": "string"}}
                }
            }
        }
    })
}

fn error_responses() -> Value {
    let response = |text: &str| {
        json!({
            "description": text,
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
        })
    };
    let mut all: Map<String, Value> = ERRORS
        .iter()
        .map(|(status, text)| (format!("E{status}"), response(text)))
        .collect();
    all.insert(
        "Error".into(),
        response("Any other refusal; `code` tells which."),
    );
    all.into()
}

/// Errors that the host answers itself, wherever they may happen.
const ERRORS: [(u16, &str); 10] = [
    (
        400,
        "The request is malformed, or the board lacks what it needs (`not_capable`).",
    ),
    (
        401,
        "No credential, or one that is invalid, expired or revoked.",
    ),
    (403, "The credential lacks the scope or the role."),
    (404, "Not found, or another organisation's."),
    (408, "The body did not arrive in time."),
    (413, "The body is over the limit of this endpoint."),
    (415, "The body is not of a supported media type."),
    (426, "The endpoint is a WebSocket."),
    (
        500,
        "The server failed; its log has the details under the request id.",
    ),
    (
        503,
        "The device is offline, or the server is overloaded (`Retry-After`).",
    ),
];
