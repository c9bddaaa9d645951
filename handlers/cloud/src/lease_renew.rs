//! `POST /cloud/devices/lease/renew`: keep a device. 409 when the lease is over: the device has been put
//! into its safe state.

use guest::{ApiError, JSON_BODY_BYTES_MAX, Openapi, Request, Response, Route, leases};

use crate::{device, lease};

pub(crate) const ROUTE: Route = Route {
    name: "cloud.lease_renew",
    method: "POST",
    pattern: "/cloud/devices/lease/renew",
    credentials: device::CREDENTIALS,
    scope: device::SCOPE,
    body_limit: JSON_BODY_BYTES_MAX,
    summary: "Keep a device",
    openapi: Openapi::of(lease::describe),
    handle: |request| handle(request).map_err(ApiError::short),
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let ask: lease::Ask = request.json()?.read()?;
    let device = device::of(request)?;
    let lease = leases::renew(&device.id, &ask.lease_id, ask.ttl_seconds)
        .map_err(|error| lease::refusal(error, &device.name))?;
    Ok(lease::reply(&device, &lease))
}
