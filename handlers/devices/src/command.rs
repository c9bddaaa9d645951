//! `POST /bench/devices/{id}/command`: one command to the pod, one reply.
//!
//! What the pod itself refuses is a success of this endpoint (200 with `status: "error"`): the
//! command got there and the answer is the pod's. Error bodies stay under 300 bytes, because
//! published clients cut them there before they parse them.

use guest::pod::{self, Error};
use guest::{ApiError, Object, Request, Response, Route, devices, integer};
use serde_json::{Map, Value};

use crate::{device, tier};

/// Wait for the reply when the caller does not say.
const TIMEOUT_MS_DEFAULT: u32 = 30_000;

/// Longest wait.
const TIMEOUT_MS_MAX: u32 = 120_000;

pub(crate) const ROUTE: Route = Route {
    name: "devices.command",
    method: "POST",
    pattern: "/bench/devices/{id}/command",
    credentials: device::CREDENTIALS,
    scope: device::SCOPE,
    body_limit: 16 << 10,
    summary: "Run one pod command",
    openapi: guest::compact_json!(
        r#"{"parameters":["#,
        include_str!("id.parameter.json"),
        r#"],"requestBody":"#,
        include_str!("command.body.json"),
        r#","responses":"#,
        include_str!("command.responses.json"),
        "}",
    ),
    handle: |request| handle(request).map_err(ApiError::short),
};

#[derive(Debug, PartialEq)]
struct Order {
    command: Map<String, Value>,
    timeout_ms: u32,
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let order = parse(request)?;
    authorize(request, &order.command)?;
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
    let text = Value::Object(order.command).to_string();
    reply(request, pod::command(id, &text, order.timeout_ms))
}

fn parse(request: &Request) -> Result<Order, ApiError> {
    let mut body = request.json()?;
    let is_object = body.is_object("command");
    let command = body.object_required("command");
    let verb = command.get("cmd").and_then(Value::as_str).unwrap_or("");
    if is_object && verb.is_empty() {
        body.problem("command.cmd", "must be a non-empty string");
    }
    let timeout_ms = body.or(
        "timeout_ms",
        integer(1..=TIMEOUT_MS_MAX),
        TIMEOUT_MS_DEFAULT,
    );
    body.finish()?;
    Ok(Order {
        command,
        timeout_ms,
    })
}

fn authorize(request: &Request, command: &Map<String, Value>) -> Result<(), ApiError> {
    if tier::allows(request.caller()?, tier::of(command)) {
        Ok(())
    } else {
        Err(ApiError::forbidden(
            "this command changes stored settings or firmware of the pod, or is not known: it takes \
             an admin's session, or an admin's key with scope bench:admin",
        ))
    }
}

/// Capability without which the server does not even ask the pod.
fn needed_capability(command: &Map<String, Value>) -> Option<&'static str> {
    (command.get("cmd")? == "generate").then_some("ac_dac")
}

/// The pod's answer or refusal as a response.
fn reply(request: &Request, answer: Result<String, Error>) -> Result<Response, ApiError> {
    let id = device::id(request);
    let mut body = Object::new();
    body.field("request_id", &request.id).field("device_id", id);
    match answer {
        Ok(data) => body.field("status", "ok").raw("data", &data),
        Err(Error::Refused(text)) => body.field("status", "error").field("error", &text),
        Err(error) => return Err(refusal(error, id)),
    };
    Ok(body.reply(200))
}

fn refusal(error: Error, id: &str) -> ApiError {
    match error {
        Error::NotFound => ApiError::not_found("device", id),
        Error::Offline => ApiError::new(503, "device_offline", "the device is offline"),
        Error::NeedsTunnel => ApiError::new(
            400,
            "needs_tunnel",
            "this command answers with a stream; use the capture endpoints or a byte tunnel",
        ),
        Error::Invalid(message) => ApiError::field("command", message),
        Error::TimedOut(ms) => ApiError::new(
            504,
            "device_timeout",
            format!("the device did not answer within {ms} ms; the command may still have run"),
        ),
        Error::Protocol(message) => ApiError::new(
            502,
            "pod_protocol",
            format!("the device answered outside the protocol: {message}"),
        ),
        // Told as a 200 where the answer is read.
        Error::Refused(text) => ApiError::new(502, "pod_refused", text),
        Error::Other(cause) => ApiError::internal(cause),
    }
}

#[cfg(test)]
mod tests;
