//! `GET /bench/devices/{id}/firmware`: what the pod itself runs.

use guest::{ApiError, Openapi, Request, Response, Route, devices, log, pod};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::device;

/// How long to wait for the pod, in milliseconds. It answers from memory.
const STATUS_WAIT_MS: u32 = 5000;

pub(crate) const ROUTE: Route = Route {
    name: "devices.firmware",
    method: "GET",
    pattern: "/bench/devices/{id}/firmware",
    credentials: device::CREDENTIALS,
    scope: device::SCOPE,
    body_limit: 0,
    summary: "Firmware of the pod",
    openapi: Openapi::of(|operation| {
        operation.path(device::ID.0, device::ID.1).reply(
            200,
            "What it runs; of a pod that is offline, what it ran when it was last seen.",
            &Firmware {
                version: "3.9.4",
                board: "stm32h563 v3",
                gateware: Some(9),
            },
        );
    }),
    handle,
};

/// What a pod runs.
#[derive(Serialize, JsonSchema)]
struct Firmware<'a> {
    /// Version of the pod's firmware; empty until it was online once.
    version: &'a str,
    /// Board and revision as the pod reports them.
    board: &'a str,
    /// Version of the gateware that runs, when the pod tells it.
    #[serde(skip_serializing_if = "Option::is_none")]
    gateware: Option<u64>,
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = device::id(request);
    let device = devices::get(id).map_err(|error| device::refusal(error, id))?;
    let status = match pod::command(id, r#"{"cmd":"status"}"#, STATUS_WAIT_MS) {
        Ok(status) => serde_json::from_str(&status).unwrap_or_default(),
        // What was last seen is an answer too.
        Err(pod::Error::Offline | pod::Error::TimedOut(_)) => Value::Null,
        Err(error) => {
            log::write(
                log::Level::Warn,
                &format!("the pod tells no status: {error:?}"),
            );
            Value::Null
        }
    };
    Ok(reply(&device, &status))
}

fn reply(device: &devices::Device, status: &Value) -> Response {
    let firmware = Firmware {
        version: &device.firmware_version,
        board: &device.board,
        gateware: status.get("gateware").and_then(Value::as_u64),
    };
    Response::json(200, &firmware)
}

#[cfg(test)]
mod tests {
    use guest::testing::json;
    use serde_json::{Value, json};

    use super::reply;
    use crate::device::known;

    #[test]
    fn gateware_is_told_when_it_is_known() {
        let body = json(&reply(&known(), &json!({"gateware": 9})));
        assert_eq!(
            body,
            json!({"version": "3.9.4", "board": "rev3", "gateware": 9})
        );
        for status in [Value::Null, json!({}), json!({"gateware": "x"}), json!([])] {
            let body = json(&reply(&known(), &status));
            assert!(body.get("gateware").is_none() && body["version"] == "3.9.4");
        }
    }
}
