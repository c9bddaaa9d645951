//! `GET /bench/devices/{id}`: one device.

use guest::{ApiError, Openapi, Request, Response, Route, devices};

use crate::device;

pub(crate) const ROUTE: Route = Route {
    name: "devices.get",
    method: "GET",
    pattern: "/bench/devices/{id}",
    credentials: device::CREDENTIALS,
    scope: device::SCOPE,
    body_limit: 0,
    summary: "One device",
    openapi: Openapi::of(|operation| {
        operation
            .path(device::ID.0, device::ID.1)
            .reply(200, "The device.", &device::example());
    }),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = device::id(request);
    let device = devices::get(id).map_err(|error| device::refusal(error, id))?;
    Ok(device::reply(&device))
}
