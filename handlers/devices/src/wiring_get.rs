//! `GET /bench/devices/{id}/wiring/profile`: the wiring profile, complete with defaults.

use guest::{ApiError, Openapi, Operation, Request, Response, Route, devices, store};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::{device, edit, wiring};

pub(crate) const ROUTE: Route = Route {
    name: "devices.wiring",
    method: "GET",
    pattern: "/bench/devices/{id}/wiring/profile",
    credentials: device::CREDENTIALS,
    scope: device::SCOPE,
    body_limit: 0,
    summary: "Wiring profile of a device",
    openapi: Openapi::of(|operation| {
        operation.path(device::ID.0, device::ID.1);
        describe(operation);
    }),
    handle,
};

/// The wiring of a device.
#[derive(Serialize, JsonSchema)]
struct Wiring {
    profile: Map<String, Value>,
    stored: bool,
    defaults: Map<String, Value>,
    warnings: Vec<String>,
}

/// Changes of the profile have the same answers.
pub(crate) fn describe(operation: &mut Operation) {
    operation.reply(
        200,
        "The profile with every member, whether one is stored, the defaults, and what works but hardly as \
         meant.",
        &told(example().as_object()),
    );
}

/// A profile as it is stored.
pub(crate) fn example() -> Value {
    json!({
        "version": 1,
        "la_mv": 3300,
        "efuse": 1,
        "uart_rx": 3,
        "uart_tx": 4,
        "uart_baud": 115_200,
        "i2c_sda": 2,
        "i2c_scl": 1,
        "swd_swclk": 11,
        "swd_swdio": 12,
        "signals": [{"name": "led", "la": 9, "direction": "input"}]
    })
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = device::id(request);
    devices::get(id).map_err(|error| device::refusal(error, id))?;
    let stored = stored(id)?;
    Ok(reply(stored.as_ref()))
}

/// The profile that is stored for a device.
pub(crate) fn stored(id: &str) -> Result<Option<Map<String, Value>>, ApiError> {
    let stored = store::get(&edit::wiring_key(id)).map_err(edit::store_refusal)?;
    stored.map(|entry| read(&entry.value)).transpose()
}

fn read(bytes: &[u8]) -> Result<Map<String, Value>, ApiError> {
    serde_json::from_slice(bytes)
        .map_err(|e| ApiError::internal(format!("the stored wiring is not an object: {e}")))
}

/// Changes of the profile have the same answer.
pub(crate) fn reply(stored: Option<&Map<String, Value>>) -> Response {
    Response::json(200, &told(stored))
}

fn told(stored: Option<&Map<String, Value>>) -> Wiring {
    let profile = stored.map_or_else(wiring::defaults, wiring::completed);
    Wiring {
        stored: stored.is_some(),
        defaults: wiring::defaults(),
        warnings: wiring::warnings(&profile),
        profile,
    }
}

#[cfg(test)]
mod tests {
    use guest::testing::json;
    use serde_json::json;

    #[test]
    fn a_device_without_a_profile_has_the_defaults() {
        let body = json(&super::reply(None));
        assert_eq!(body["stored"], json!(false));
        assert_eq!(body["profile"], body["defaults"]);
        let stored = json!({"uart_rx": 3});
        let body = json(&super::reply(stored.as_object()));
        assert_eq!(
            (&body["stored"], &body["profile"]["uart_rx"]),
            (&json!(true), &json!(3))
        );
    }
}
