//! `GET /jobs/schema.json`: the JSON Schema of pipelines, for editors.

use guest::{ApiError, Body, Openapi, Request, Response, Route, jobs};
use serde_json::json;

/// Media type of JSON Schemas.
const TYPE: &str = "application/schema+json";

/// Editors ask often, and it changes with the server alone.
const CACHE: &str = "public, max-age=3600";

pub(crate) const ROUTE: Route = Route {
    name: "jobs.schema",
    method: "GET",
    pattern: "/jobs/schema.json",
    // Editors have no credential, and it tells nothing about anybody.
    credentials: &[],
    scope: None,
    body_limit: 0,
    summary: "The JSON Schema of pipelines",
    openapi: Openapi::of(|operation| {
        operation.reply_content(
            200,
            "The schema. An editor with a YAML language server takes its address from the first line of a pipeline.",
            TYPE,
            json!({"type": "object"}),
            json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"}),
        );
    }),
    handle,
};

fn handle(_: &Request) -> Result<Response, ApiError> {
    Ok(reply(jobs::schema()))
}

fn reply(schema: String) -> Response {
    let headers = [("content-type", TYPE), ("cache-control", CACHE)];
    let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned()));
    Response {
        status: 200,
        headers: headers.to_vec(),
        body: Body::Bytes(schema.into_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use guest::testing::{header, json};

    use super::reply;

    #[test]
    fn the_text_is_passed_on() {
        let response = reply(r#"{"type":"object"}"#.to_owned());
        assert_eq!(
            header(&response, "content-type"),
            Some("application/schema+json")
        );
        assert_eq!(json(&response)["type"], "object");
    }
}
