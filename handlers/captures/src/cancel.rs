//! `POST /capture/{id}/cancel`: stop a capture that has not finished.

use guest::{ApiError, Object, Request, Response, Route, captures};

use crate::capture;

pub(crate) const ROUTE: Route = Route {
    name: "captures.cancel",
    method: "POST",
    pattern: "/capture/{id}/cancel",
    credentials: capture::CREDENTIALS,
    scope: capture::SCOPE,
    body_limit: 0,
    summary: "Cancel a capture",
    openapi: guest::compact_json!(
        r#"{"refusals":["wrong_state"],"parameters":["#,
        include_str!("id.parameter.json"),
        r#"],"responses":{"200":{"description":"The capture, as it now is.","content":{"application/json":{"schema":"#,
        include_str!("capture.schema.json"),
        r#","example":"#,
        include_str!("capture.example.json"),
        "}}}}}",
    ),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = capture::id(request);
    let info = captures::cancel(id).map_err(|error| capture::refusal(error, "capture", id))?;
    let mut body = Object::new();
    capture::head(&info, &mut body);
    Ok(body.reply(200))
}
