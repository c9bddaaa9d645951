//! `PATCH /bench/devices/{id}`: give a device another name, other wiring, or both. If the
//! device is held, only its holder or an administrator may change it.
//!
//! The wiring belongs to this group and lies in its store, under `wiring/<device id>`.

use guest::{ApiError, Openapi, Refusal, Request, Response, Route, devices, members, store};
use serde_json::{Map, Value, json};

use crate::device;
use crate::wiring::{self, Profile};
use crate::wiring_get;

pub(crate) const ROUTE: Route = Route {
    name: "devices.update",
    method: "PATCH",
    pattern: "/bench/devices/{id}",
    credentials: device::CREDENTIALS,
    scope: device::SCOPE,
    body_limit: 64 << 10,
    summary: "Rename a device or change its wiring",
    openapi: Openapi::of(|operation| {
        operation
            .refusals(&[Refusal::NameTaken, Refusal::LeaseHeld])
            .path(device::ID.0, device::ID.1)
            .body::<Edit>(json!({"name": "bench-1", "wiring": {"uart_rx": 3, "uart_tx": 4}}))
            .reply(200, "The changed device.", &device::example());
    }),
    handle,
};

members! {
    #[derive(Debug, PartialEq)]
    struct Edit {
        name: Option<String> = optional(device::name()),
        /// Members of the wiring profile as in PUT …/wiring; those that are left out stay as they are.
        wiring: Option<Map<String, Value>> = optional(Profile::Changes),
    }
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let edit = parse(request)?;
    let id = device::id(request);
    // Before anything is changed.
    let wiring = edit.wiring.as_ref();
    let profile = wiring.map(|changes| rewired(id, changes)).transpose()?;
    // Without a new name, this is what checks that the caller may change the device.
    let changed = match &edit.name {
        Some(name) => devices::rename(id, name),
        None => devices::changeable(id),
    }
    .map_err(|error| device::refusal(error, id))?;
    if let Some(profile) = profile {
        store_wiring(&changed.id, &profile)?;
    }
    Ok(device::reply(&changed))
}

/// The stored profile with these changes.
fn rewired(id: &str, changes: &Map<String, Value>) -> Result<Map<String, Value>, ApiError> {
    let id = devices::get(id)
        .map_err(|error| device::refusal(error, id))?
        .id;
    let profile = wiring::changed(wiring_get::stored(&id)?, changes);
    wiring::check(&profile).map_err(in_body)?;
    wiring::check_chip(changes, "wiring.swd_target")?;
    Ok(profile)
}

/// What is wrong with the profile, as a member of the body.
fn in_body(error: ApiError) -> ApiError {
    let fields = error.fields.into_iter().map(|mut problem| {
        problem.field.insert_str(0, "wiring.");
        problem
    });
    ApiError::fields(fields.collect())
}

fn parse(request: &Request) -> Result<Edit, ApiError> {
    let edit: Edit = request.json()?.read()?;
    if edit.name.is_none() && edit.wiring.is_none() {
        return Err(ApiError::invalid("give name, wiring or both"));
    }
    Ok(edit)
}

/// Store a checked profile in place of the previous one.
pub(crate) fn store_wiring(id: &str, profile: &Map<String, Value>) -> Result<(), ApiError> {
    let bytes = serde_json::to_vec(profile)
        .map_err(|e| ApiError::internal(format!("failed to write the wiring as JSON: {e}")))?;
    store::put(&wiring_key(id), &bytes)
        .map(drop)
        .map_err(store_refusal)
}

pub(crate) fn wiring_key(id: &str) -> String {
    format!("wiring/{id}")
}

pub(crate) fn store_refusal(error: store::Error) -> ApiError {
    ApiError::internal(match error {
        store::Error::TooLarge(message) => format!("store refused the wiring: {message}"),
        store::Error::Conflict(version) => {
            format!("store reported a conflict on a plain write, version {version:?}")
        }
        store::Error::Other(cause) => cause,
    })
}

#[cfg(test)]
mod tests {
    use guest::testing::{mutations, request};
    use serde_json::json;

    use super::{Edit, parse, wiring_key};

    #[test]
    fn name_and_wiring_are_checked() {
        assert_eq!(
            parse(&request(r#"{"name":"Bench_1.a-b"}"#)).unwrap(),
            Edit {
                name: Some("Bench_1.a-b".into()),
                wiring: None
            }
        );
        assert_eq!(
            parse(&request(r#"{ "wiring" : { "uart_rx" : 3 } }"#)).unwrap(),
            Edit {
                name: None,
                wiring: json!({"uart_rx": 3}).as_object().cloned()
            }
        );
        let large = format!(r#"{{"wiring":{{"note":"{}"}}}}"#, "x".repeat(17_000));
        let long = format!(r#"{{"name":"{}"}}"#, "x".repeat(65));
        for (body, field) in [
            (r#"{"name":"a b"}"#, "name"),
            (r#"{"name":"ä"}"#, "name"),
            (r#"{"name":"a/b"}"#, "name"),
            (r#"{"name":""}"#, "name"),
            (r#"{"name":7}"#, "name"),
            (long.as_str(), "name"),
            (r#"{"wiring":[]}"#, "wiring"),
            (r#"{"wiring":"x"}"#, "wiring"),
            (large.as_str(), "wiring.note"),
            (r#"{"wiring":{"uart_rx":99}}"#, "wiring.uart_rx"),
            (r#"{"name":"a","serial":"x"}"#, "serial"),
        ] {
            let error = parse(&request(body)).unwrap_err();
            assert_eq!((error.status, error.fields[0].field.as_str()), (400, field));
        }
        for body in ["", "{}", "[]", r#"{"name":null}"#] {
            assert_eq!(parse(&request(body)).unwrap_err().status, 400, "{body}");
        }
    }

    #[test]
    fn the_example_is_accepted() {
        let mut request = request("");
        request.body = guest::testing::request_example(&super::ROUTE);
        assert!(parse(&request).is_ok());
    }

    #[test]
    fn wiring_lies_under_the_device() {
        assert_eq!(wiring_key("01X"), "wiring/01X");
    }

    #[test]
    fn mutated_bodies_never_panic() {
        let valid = br#"{"name":"bench-1","wiring":{"uart_rx":3,"swd_nreset":true}}"#;
        mutations(0xED17, valid, 5000, |body| {
            let mut request = request("");
            request.body = body.to_vec();
            if let Ok(Edit {
                name: Some(name), ..
            }) = parse(&request)
            {
                assert!(!name.is_empty() && name.is_ascii());
            }
        });
    }
}
