//! `POST /bench/devices/admit`: undo a removal. The device has its id, its name and its wiring again, and
//! its pod if that is configured.

use guest::{ApiError, JSON_BODY_BYTES_MAX, Object, Request, Response, Route, devices, text};

use crate::device;

/// Longest id, name or address.
const WHICH_CHARS_MAX: usize = 256;

pub(crate) const ROUTE: Route = Route {
    name: "devices.admit",
    method: "POST",
    pattern: "/bench/devices/admit",
    credentials: device::CREDENTIALS,
    scope: device::SCOPE,
    body_limit: JSON_BODY_BYTES_MAX,
    summary: "Admit a removed device again",
    openapi: guest::compact_json!(
        r#"{"refusals":["forbidden","name_taken","wrong_state"],"requestBody":"#,
        include_str!("admit.body.json"),
        r#","responses":{"200":{"description":"The device, as it was. For administrators, with a credential that is not restricted to devices.","content":{"application/json":{"schema":"#,
        include_str!("device.schema.json"),
        r#","example":"#,
        include_str!("device.example.json"),
        "}}}}}",
    ),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let which = parse(request)?;
    let admitted = devices::admit(&which).map_err(|error| device::refusal(error, &which))?;
    let mut body = Object::new();
    device::record(&admitted, &mut body);
    Ok(body.reply(200))
}

fn parse(request: &Request) -> Result<String, ApiError> {
    let mut body = request.json()?;
    let which = body.required("device", text(1..=WHICH_CHARS_MAX));
    body.finish()?;
    Ok(which)
}

#[cfg(test)]
mod tests {
    use guest::testing::request;

    use super::parse;

    #[test]
    fn a_device_is_named() {
        let body = r#"{"device":"bench-1"}"#;
        assert_eq!(parse(&request(body)).as_deref(), Ok("bench-1"));
        for body in ["", "{}", r#"{"device":""}"#, r#"{"device":"a","x":1}"#] {
            assert_eq!(parse(&request(body)).unwrap_err().status, 400, "{body}");
        }
    }

    #[test]
    fn the_example_is_accepted() {
        let mut request = request("");
        request.body = guest::testing::request_example(&super::ROUTE);
        assert!(parse(&request).is_ok());
    }
}
