//! One pod command and its answer, as every endpoint that passes commands on gives it.
//!
//! What the pod itself refuses is a success (200 with `status: "error"`): the command got there and
//! the answer is the pod's.

use serde_json::{Map, Value};

use crate::pod::{self, Error};
use crate::{ApiError, Fields, Object, Request, Response, integer};

/// Wait for the reply when the caller does not say, in milliseconds.
pub const TIMEOUT_MS_DEFAULT: u32 = 30_000;

/// Longest wait, in milliseconds.
pub const TIMEOUT_MS_MAX: u32 = 120_000;

/// A command, and how long its answer is waited for.
#[derive(Debug, PartialEq)]
pub struct Order {
    pub command: Map<String, Value>,
    /// 1 to [`TIMEOUT_MS_MAX`]
    pub timeout_ms: u32,
}

impl Order {
    /// A body that wraps a command: `{"command": {"cmd": …}, "timeout_ms"?}`.
    ///
    /// # Errors
    /// 400 that names what is wrong with it.
    pub fn read(mut body: Fields) -> Result<Self, ApiError> {
        let is_object = body.is_object("command");
        let command = body.object_required("command");
        if is_object && verb(&command).is_empty() {
            body.problem("command.cmd", "must be a non-empty string");
        }
        let timeout_ms = body.or(
            "timeout_ms",
            integer(1..=TIMEOUT_MS_MAX),
            TIMEOUT_MS_DEFAULT,
        );
        body.finish()?;
        Ok(Self {
            command,
            timeout_ms,
        })
    }

    /// Run the command on the device with this id.
    ///
    /// # Errors
    /// Everything but the pod's own refusal.
    pub fn run(self, request: &Request, device: &str) -> Result<Response, ApiError> {
        let text = Value::Object(self.command).to_string();
        reply(
            request,
            device,
            pod::command(device, &text, self.timeout_ms),
        )
    }
}

/// What a command says it is; empty when it does not.
#[must_use]
pub fn verb(command: &Map<String, Value>) -> &str {
    command.get("cmd").and_then(Value::as_str).unwrap_or("")
}

/// The pod's answer or refusal as a response.
fn reply(request: &Request, id: &str, answer: Result<String, Error>) -> Result<Response, ApiError> {
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
        Error::Held(busy) => ApiError::held(busy),
        Error::Forbidden => ApiError::forbidden(
            "this command changes stored settings or firmware of the pod, or is not known: it takes \
             an admin's session, or an admin's key with scope bench:admin",
        ),
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
