//! `POST /bench/devices/{id}/ota/abort`: have the pod drop a staged image.

use guest::{ApiError, Request, Response, Route, updates};

use crate::update;

pub(crate) const ROUTE: Route = Route {
    name: "updates.abort",
    method: "POST",
    pattern: "/bench/devices/{id}/ota/abort",
    credentials: update::CREDENTIALS,
    scope: update::SCOPE,
    body_limit: 0,
    summary: "Give the update of a pod up",
    openapi: guest::compact_json!(
        r#"{"refusals":["wrong_state"],"parameters":["#,
        include_str!("id.parameter.json"),
        r#"],"responses":{"200":{"description":"The pod has dropped the image; the update as it now is.","content":{"application/json":{"schema":"#,
        include_str!("update.json"),
        r#","example":"#,
        include_str!("update.example.json"),
        "}}}}}",
    ),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = update::id(request);
    let found = updates::abort(id).map_err(|error| update::refusal(error, id))?;
    Ok(update::reply(200, &found))
}
