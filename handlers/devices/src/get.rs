//! `GET /bench/devices/{id}`: one device.

use guest::{ApiError, Object, Request, Response, Route, devices};

use crate::device;

pub(crate) const ROUTE: Route = Route {
    name: "devices.get",
    method: "GET",
    pattern: "/bench/devices/{id}",
    credentials: device::CREDENTIALS,
    scope: device::SCOPE,
    body_limit: 0,
    summary: "One device",
    openapi: guest::compact_json!(
        r#"{"parameters":["#,
        include_str!("id.parameter.json"),
        r#"],"responses":{"200":{"description":"The device.","content":{"application/json":{"schema":"#,
        include_str!("device.schema.json"),
        r#","example":"#,
        include_str!("device.example.json"),
        "}}}}}",
    ),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = device::id(request);
    let device = devices::get(id).map_err(|error| device::refusal(error, id))?;
    let mut body = Object::new();
    device::record(&device, &mut body);
    Ok(body.reply(200))
}
