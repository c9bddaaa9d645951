//! `GET /bench/devices/{id}/flash/{flash_id}`: the progress of a flash, or how it ended.

use guest::{ApiError, Openapi, Request, Response, Route, flashing};

use crate::{device, flash};

pub(crate) const ROUTE: Route = Route {
    name: "devices.flash.get",
    method: "GET",
    pattern: "/bench/devices/{id}/flash/{flash_id}",
    credentials: device::CREDENTIALS,
    scope: device::SCOPE,
    body_limit: 0,
    summary: "One flash",
    openapi: Openapi::of(|operation| {
        operation
            .path(device::ID.0, device::ID.1)
            .path(flash::ID.0, flash::ID.1)
            .reply(200, "The flash.", &flash::example());
    }),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = flash::id(request);
    let found = flashing::get(device::id(request), id);
    let found = found.map_err(|error| flash::refusal(error, id))?;
    Ok(flash::reply(200, &found))
}
