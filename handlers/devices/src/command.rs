//! `POST /bench/devices/{id}/command`: one command to the pod, one reply.
//!
//! Error bodies stay under 300 bytes, because published clients cut them there before they parse
//! them.

use guest::command::Order;
use guest::{ApiError, Request, Response, Route, devices};
use serde_json::{Map, Value};

use crate::device;

pub(crate) const ROUTE: Route = Route {
    name: "devices.command",
    method: "POST",
    pattern: "/bench/devices/{id}/command",
    credentials: device::CREDENTIALS,
    scope: device::SCOPE,
    body_limit: 16 << 10,
    summary: "Run one pod command",
    openapi: guest::compact_json!(
        r#"{"refusals":["needs_tunnel","not_capable","lease_held","device_offline","device_timeout","pod_protocol"],"parameters":["#,
        include_str!("id.parameter.json"),
        r#"],"requestBody":"#,
        include_str!("command.body.json"),
        r#","responses":"#,
        include_str!("../../guest/src/command.responses.json"),
        "}",
    ),
    handle: |request| handle(request).map_err(ApiError::short),
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let order = parse(request)?;
    let id = device::id(request);
    if let Some(capability) = needed_capability(&order.command) {
        let device = devices::get(id).map_err(|error| device::refusal(error, id))?;
        if device::lacks(&device, capability) {
            return Err(ApiError::new(
                400,
                "not_capable",
                format!("the board of {} has no AC waveform DAC", device.name),
            ));
        }
    }
    order.run(request, id)
}

fn parse(request: &Request) -> Result<Order, ApiError> {
    Order::read(request.json()?)
}

/// Capability without which the server does not even ask the pod.
fn needed_capability(command: &Map<String, Value>) -> Option<&'static str> {
    (command.get("cmd")? == "generate").then_some("ac_dac")
}

#[cfg(test)]
mod tests;
