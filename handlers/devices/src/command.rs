//! `POST /bench/devices/{id}/command`: one command to the pod, one reply.
//!
//! Error bodies stay under 300 bytes, because published clients cut them there before they parse
//! them.

use guest::command::{self, Body};
use guest::{ApiError, Openapi, Refusal, Request, Response, Route, devices};
use serde_json::{Map, Value, json};

use crate::device;

pub(crate) const ROUTE: Route = Route {
    name: "devices.command",
    method: "POST",
    pattern: "/bench/devices/{id}/command",
    credentials: device::CREDENTIALS,
    scope: device::SCOPE,
    body_limit: 16 << 10,
    summary: "Run one pod command",
    openapi: Openapi::of(|operation| {
        operation
            .path(device::ID.0, device::ID.1)
            .refusals(&[Refusal::NotCapable])
            .body::<Body>(json!({
                "command": {"cmd": "target_power", "efuse": 1, "state": 1},
                "timeout_ms": 5000
            }));
        command::describe(operation);
    }),
    handle: |request| handle(request).map_err(ApiError::short),
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let order = parse(request)?;
    let id = device::id(request);
    if needs_ac_dac(&order.command) {
        let device = devices::get(id).map_err(|error| device::refusal(error, id))?;
        if device::lacks(&device, |known| known.ac_dac) {
            return Err(ApiError::of(
                Refusal::NotCapable,
                format!("the board of {} has no AC waveform DAC", device.name),
            ));
        }
    }
    order.run(request, id)
}

fn parse(request: &Request) -> Result<Body, ApiError> {
    request.json()?.read()
}

/// Whether the server does not even ask a pod that has no waveform output.
fn needs_ac_dac(command: &Map<String, Value>) -> bool {
    command.get("cmd").is_some_and(|verb| verb == "generate")
}

#[cfg(test)]
mod tests;
