//! `POST /cloud/devices/lease`: take a device for oneself. Asking again while somebody else has it
//! keeps the caller's place in the queue; a client that does not mean to wait asks for none. A device
//! that is being made safe belongs to nobody, but an administrator may take it all the same.

use guest::{ApiError, JSON_BODY_BYTES_MAX, Openapi, Request, Response, Route, leases};

use crate::{device, lease};

pub(crate) const ROUTE: Route = Route {
    name: "cloud.lease_acquire",
    method: "POST",
    pattern: "/cloud/devices/lease",
    credentials: device::CREDENTIALS,
    scope: device::SCOPE,
    body_limit: JSON_BODY_BYTES_MAX,
    summary: "Take a device",
    openapi: Openapi::of(lease::describe),
    handle: |request| handle(request).map_err(ApiError::short),
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let ask: lease::Ask = request.json()?.read()?;
    let device = device::of(request)?;
    let lease = leases::acquire(
        &device.id,
        Some(&ask.lease_id),
        &ask.run_label,
        ask.ttl_seconds,
        ask.queue,
        ask.r#override,
    )
    .map_err(|error| lease::refusal(error, &device.name))?;
    Ok(lease::reply(&device, &lease))
}
