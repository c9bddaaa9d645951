//! `GET /bench/devices/{id}/flash`: the last flashes of a device.

use guest::{ApiError, Object, Request, Response, Route, flashing};

use crate::{device, flash};

pub(crate) const ROUTE: Route = Route {
    name: "devices.flash.list",
    method: "GET",
    pattern: "/bench/devices/{id}/flash",
    credentials: device::CREDENTIALS,
    scope: device::SCOPE,
    body_limit: 0,
    summary: "Last flashes of a device",
    openapi: guest::compact_json!(
        r#"{"description":"The last 16 since the server was started.","parameters":["#,
        include_str!("id.parameter.json"),
        r#"],"responses":{"200":{"description":"Newest first.","content":{"application/json":{"schema":{"type":"object","required":["flashes"],"properties":{"flashes":{"type":"array","maxItems":16,"items":"#,
        include_str!("flash.schema.json"),
        r#"}}},"example":{"flashes":["#,
        include_str!("flash.example.json"),
        r#"]}}}}}}"#,
    ),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = device::id(request);
    let found = flashing::list(id).map_err(|error| flash::refusal(error, id))?;
    let mut body = Object::new();
    body.array("flashes", &found, flash::record);
    Ok(body.reply(200))
}
