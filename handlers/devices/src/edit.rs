//! `PATCH /bench/devices/{id}`: another name, another wiring profile, or both. Of a device that is
//! held, by its holder or an administrator.
//!
//! The wiring is this group's own: it lies in its store, under `wiring/<device id>`.

use guest::{ApiError, Object, Request, Response, Route, devices, store, text};
use serde_json::Value;

use crate::{device, wiring};

/// Longest name, in characters.
const NAME_CHARS_MAX: usize = 64;

pub(crate) const ROUTE: Route = Route {
    name: "devices.update",
    method: "PATCH",
    pattern: "/bench/devices/{id}",
    credentials: device::CREDENTIALS,
    scope: device::SCOPE,
    body_limit: 64 << 10,
    summary: "Rename a device or store its wiring",
    openapi: guest::compact_json!(
        r#"{"refusals":["name_taken","lease_held"],"parameters":["#,
        include_str!("id.parameter.json"),
        r#"],"requestBody":"#,
        include_str!("edit.body.json"),
        r#","responses":{"200":{"description":"The changed device.","content":{"application/json":{"schema":"#,
        include_str!("device.schema.json"),
        r#","example":"#,
        include_str!("device.example.json"),
        "}}}}}",
    ),
    handle,
};

#[derive(Debug, PartialEq)]
struct Edit {
    name: Option<String>,
    /// JSON text.
    wiring: Option<Vec<u8>>,
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let edit = parse(request)?;
    let id = device::id(request);
    // Without a new name, this is what tells that the caller may change the device.
    let changed = match &edit.name {
        Some(name) => devices::rename(id, name),
        None => devices::changeable(id),
    }
    .map_err(|error| device::refusal(error, id))?;
    if let Some(wiring) = &edit.wiring {
        store::put(&wiring_key(&changed.id), wiring).map_err(store_refusal)?;
    }
    let mut body = Object::new();
    device::record(&changed, &mut body);
    Ok(body.reply(200))
}

fn parse(request: &Request) -> Result<Edit, ApiError> {
    let mut body = request.json()?;
    let name = body.optional("name", text(1..=NAME_CHARS_MAX));
    if name.as_deref().is_some_and(|name| !is_name(name)) {
        body.problem("name", "must consist of A-Z, a-z, 0-9, '.', '_' and '-'");
    }
    let wiring = body.object("wiring");
    body.finish()?;
    if let Some(profile) = &wiring {
        wiring::check(profile).map_err(|error| within("wiring", error))?;
    }
    let wiring = wiring.map(|profile| Value::Object(profile).to_string().into_bytes());
    if name.is_none() && wiring.is_none() {
        return Err(ApiError::invalid("give name, wiring or both"));
    }
    Ok(Edit { name, wiring })
}

/// The same error about members of the member `name`.
fn within(name: &str, error: ApiError) -> ApiError {
    let problems = error.fields.into_iter().map(|mut problem| {
        problem.field = format!("{name}.{}", problem.field);
        problem
    });
    ApiError::fields(problems.collect())
}

/// `[A-Za-z0-9._-]+`; the length is checked before.
fn is_name(name: &str) -> bool {
    name.bytes()
        .all(|b| b.is_ascii_alphanumeric() || b".-_".contains(&b))
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
                wiring: Some(br#"{"uart_rx":3}"#.to_vec())
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
