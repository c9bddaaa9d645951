//! `POST /cloud/devices/command`: one command to the pod of a named device, one reply.
//!
//! The body is the command itself, or the command wrapped with a timeout. Error bodies stay under 300
//! bytes, because published clients cut them there before they parse them.

use guest::command::{self, Body, TIMEOUT_MS_DEFAULT};
use guest::{ApiError, Fields, Members, Openapi, Request, Response, Route};
use serde_json::json;

use crate::{device, lease};

pub(crate) const ROUTE: Route = Route {
    name: "cloud.command",
    method: "POST",
    pattern: "/cloud/devices/command",
    credentials: device::CREDENTIALS,
    scope: device::SCOPE,
    body_limit: 16 << 10,
    summary: "Run one pod command on a device by name",
    openapi: Openapi::of(|operation| {
        device::describe(operation);
        lease::describe_header(operation);
        operation.body_of([command::bare(), Body::schema()], json!({"cmd": "status"}));
        command::describe(operation);
    }),
    handle: |request| handle(request).map_err(ApiError::short),
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let order = parse(request)?;
    let device = device::of(request)?;
    // Here even reading needs the lease: whoever holds the device has it exclusively.
    lease::check(&device)?;
    order.run(request, &device.id)
}

fn parse(request: &Request) -> Result<Body, ApiError> {
    let body = request.json()?;
    if body.is_object("command") || body.has("command") && !body.has("cmd") {
        body.read()
    } else {
        bare(body)
    }
}

fn bare(body: Fields) -> Result<Body, ApiError> {
    let command = body.rest();
    if command::verb(&command).is_empty() {
        return Err(ApiError::field(
            "cmd",
            "must be a non-empty string, here or inside `command`",
        ));
    }
    Ok(Body {
        command,
        timeout_ms: TIMEOUT_MS_DEFAULT,
    })
}

#[cfg(test)]
mod tests {
    use guest::testing::{bytes, mutations, request};
    use serde_json::{Value, json};

    use super::parse;

    #[test]
    fn bare_and_wrapped_commands() {
        for (body, command, timeout_ms) in [
            (r#"{"cmd":"ping"}"#, json!({"cmd": "ping"}), 30_000),
            (
                r#"{"cmd":"nrst","pulse_ms":5,"timeout_ms":7}"#,
                json!({"cmd": "nrst", "pulse_ms": 5, "timeout_ms": 7}),
                30_000,
            ),
            (
                r#"{"command": {"cmd": "status"}, "timeout_ms": 4000}"#,
                json!({"cmd": "status"}),
                4_000,
            ),
        ] {
            let order = parse(&request(body)).unwrap();
            assert_eq!(Value::Object(order.command), command);
            assert_eq!(order.timeout_ms, timeout_ms);
        }
        for body in [
            "",
            "[]",
            "{}",
            r#"{"cmd":7}"#,
            r#"{"cmd":""}"#,
            r#"{"command":{}}"#,
            r#"{"command":"ping"}"#,
            r#"{"command":{"cmd":"ping"},"timeout_ms":120001}"#,
            r#"{"command":{"cmd":"ping"},"extra":1}"#,
        ] {
            assert_eq!(parse(&request(body)).unwrap_err().status, 400, "{body}");
        }
    }

    #[test]
    fn the_route_keeps_its_errors_short() {
        let body = format!(r#"{{"command":{{"cmd":"ping"}},"{}":1}}"#, "x".repeat(400));
        let error = (super::ROUTE.handle)(&request(&body)).unwrap_err();
        assert!(bytes(&error.into_response("01JGZ5V9T3N8W2K4Q7R6D1M0XB")).len() < 300);
    }

    #[test]
    fn mutated_bodies_never_panic() {
        let valid = br#"{"command":{"cmd":"la","la":3,"steps":10},"timeout_ms":5000}"#;
        mutations(0xC1_0D, valid, 5_000, |body| {
            let mut request = request("");
            request.body = body.to_vec();
            if let Ok(order) = parse(&request) {
                assert!(order.command["cmd"].is_string());
            }
        });
    }
}
