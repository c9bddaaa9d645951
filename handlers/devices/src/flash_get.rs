//! `GET /bench/devices/{id}/flash/{flash_id}`: how far a flash is, or how it ended.

use guest::{ApiError, Request, Response, Route, flashing};

use crate::{device, flash};

pub(crate) const ROUTE: Route = Route {
    name: "devices.flash.get",
    method: "GET",
    pattern: "/bench/devices/{id}/flash/{flash_id}",
    credentials: device::CREDENTIALS,
    scope: device::SCOPE,
    body_limit: 0,
    summary: "One flash",
    openapi: guest::compact_json!(
        r#"{"parameters":["#,
        include_str!("id.parameter.json"),
        ",",
        include_str!("flash_id.parameter.json"),
        r#"],"responses":{"200":{"description":"The flash.","content":{"application/json":{"schema":"#,
        include_str!("flash.schema.json"),
        r#","example":"#,
        include_str!("flash.example.json"),
        r#"}}}}}"#,
    ),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = flash::id(request);
    let found = flashing::get(device::id(request), id);
    let found = found.map_err(|error| flash::refusal(error, id))?;
    Ok(flash::reply(200, &found))
}
