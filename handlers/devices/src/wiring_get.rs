//! `GET /bench/devices/{id}/wiring/profile`: the wiring profile, complete with defaults.

use guest::{ApiError, Object, Request, Response, Route, devices, store};
use serde_json::{Map, Value};

use crate::{device, edit, wiring};

pub(crate) const ROUTE: Route = Route {
    name: "devices.wiring",
    method: "GET",
    pattern: "/bench/devices/{id}/wiring/profile",
    credentials: device::CREDENTIALS,
    scope: device::SCOPE,
    body_limit: 0,
    summary: "Wiring profile of a device",
    openapi: guest::compact_json!(
        r#"{"parameters":["#,
        include_str!("id.parameter.json"),
        r#"],"responses":"#,
        include_str!("wiring.responses.json"),
        "}",
    ),
    handle,
};

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

/// Also what a change of the profile answers.
pub(crate) fn reply(stored: Option<&Map<String, Value>>) -> Response {
    let profile = stored.map_or_else(wiring::defaults, wiring::completed);
    let warnings = wiring::warnings(&profile);
    let mut body = Object::new();
    body.field("profile", &profile)
        .field("stored", &stored.is_some())
        .field("defaults", &wiring::defaults())
        .field("warnings", &warnings);
    body.reply(200)
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
