//! One pod command and its answer, for every endpoint that forwards commands.
//!
//! A refusal by the pod itself is a success (200 with `status: "error"`): the command arrived, and
//! the answer is the pod's.

use schemars::{JsonSchema, Schema, json_schema};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::pod::{self, Error};
use crate::{ApiError, Fields, Operation, Refusal, Request, Response, Shape, integer};

/// How long to wait for the reply when the caller does not say, in milliseconds.
pub const TIMEOUT_MS_DEFAULT: u32 = 30_000;

/// Longest wait, in milliseconds.
pub const TIMEOUT_MS_MAX: u32 = 120_000;

crate::members! {
    /// A command, and how long its answer is waited for.
    #[derive(Debug, PartialEq)]
    pub struct Body {
        /// Pod command with its fields, flat.
        pub command: Map<String, Value> = required(Command),
        /// Wait for the reply.
        pub timeout_ms: u32 = or(integer(1..=TIMEOUT_MS_MAX), TIMEOUT_MS_DEFAULT),
    }
}

/// An object whose `cmd` names the command; the rest is between the caller and the pod.
struct Command;

impl Shape for Command {
    type Value = Map<String, Value>;

    fn read(&self, value: &Value) -> Result<Map<String, Value>, String> {
        let command = value.as_object().ok_or("must be an object")?;
        if verb(command).is_empty() {
            return Err("must have a non-empty string `cmd`".to_owned());
        }
        Ok(command.clone())
    }

    fn read_member(
        &self,
        name: &str,
        value: Value,
        fields: &mut Fields,
    ) -> Option<Map<String, Value>> {
        let command = fields.object_in(name, value)?;
        if verb(&command).is_empty() {
            fields.problem(&format!("{name}.cmd"), "must be a non-empty string");
            return None;
        }
        Some(command)
    }

    fn schema(&self) -> Schema {
        json_schema!({
            "type": "object",
            "required": ["cmd"],
            "properties": {"cmd": {"type": "string", "minLength": 1}},
            "additionalProperties": true
        })
    }
}

/// A command that is the whole body.
#[must_use]
pub fn bare() -> Schema {
    let mut schema = Command.schema();
    schema.insert("description".to_owned(), "The command itself, flat.".into());
    schema
}

/// Whether the pod did it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum Status {
    Ok,
    Error,
}

/// What became of a command.
#[derive(Debug, Serialize, JsonSchema)]
struct Answer<'a> {
    request_id: &'a str,
    device_id: &'a str,
    status: Status,
    /// Whatever the command answers; only with `ok`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Value")]
    data: Option<Value>,
    /// The pod's refusal; only with `error`.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
}

/// Document what running a command answers and how it can be refused.
pub fn describe(operation: &mut Operation) {
    let example = Answer {
        request_id: "01JGZ5V9T3N8W2K4Q7R6D1M0XB",
        device_id: "01JGZ5V9T3N8W2K4Q7R6D1M0XA",
        status: Status::Ok,
        data: Some(json!({"uptime_ms": 123_456})),
        error: None,
    };
    operation
        .refusals(&[
            Refusal::NeedsTunnel,
            Refusal::LeaseHeld,
            Refusal::DeviceOffline,
            Refusal::DeviceTimeout,
            Refusal::PodProtocol,
        ])
        .reply(
            200,
            "The pod's answer. `status` is `error` when the pod refused, with its own words.",
            &example,
        );
}

impl Body {
    /// Run the command on the device with this id.
    ///
    /// # Errors
    /// Every failure except a refusal by the pod itself.
    pub fn run(self, request: &Request, device: &str) -> Result<Response, ApiError> {
        let text = Value::Object(self.command).to_string();
        reply(
            request,
            device,
            pod::command(device, &text, self.timeout_ms),
        )
    }
}

/// Name of the command; empty when it has none.
#[must_use]
pub fn verb(command: &Map<String, Value>) -> &str {
    command.get("cmd").and_then(Value::as_str).unwrap_or("")
}

/// The pod's answer or refusal as a response.
fn reply(request: &Request, id: &str, answer: Result<String, Error>) -> Result<Response, ApiError> {
    let answered = |status, error| Answer {
        request_id: &request.id,
        device_id: id,
        status,
        data: None,
        error,
    };
    match answer {
        Ok(data) => {
            let head = answered(Status::Ok, None);
            Ok(Response::json_with(200, &head, "data", &data))
        }
        Err(Error::Refused(text)) => Ok(Response::json(200, &answered(Status::Error, Some(&text)))),
        Err(error) => Err(refusal(error, id)),
    }
}

fn refusal(error: Error, id: &str) -> ApiError {
    match error {
        Error::NotFound => ApiError::not_found("device", id),
        Error::Offline => ApiError::of(Refusal::DeviceOffline, "the device is offline"),
        Error::Held(busy) => ApiError::held(busy),
        Error::Forbidden => ApiError::forbidden(
            "this command changes stored settings or firmware of the pod: it takes an admin's session, or an \
             admin's key with scope bench:admin",
        ),
        Error::NeedsTunnel => ApiError::of(
            Refusal::NeedsTunnel,
            "this command answers with a stream; use the capture endpoints or a byte tunnel",
        ),
        Error::Invalid(message) => ApiError::field("command", message),
        Error::TimedOut(ms) => ApiError::of(
            Refusal::DeviceTimeout,
            format!("the device did not answer within {ms} ms; the command may still have run"),
        ),
        Error::Protocol(message) => ApiError::of(
            Refusal::PodProtocol,
            format!("the device answered outside the protocol: {message}"),
        ),
        // `reply` answers this with 200 before it gets here.
        Error::Refused(text) => ApiError::of(Refusal::PodRefused, text),
        Error::Other(cause) => ApiError::internal(cause),
    }
}

#[cfg(test)]
mod tests;
