//! `POST /bench/devices/admit`: undo a removal or a quarantine. A removed device gets back its id, its name and its
//! wiring, and its pod if that is configured; one in quarantine is given to jobs again.

use guest::{
    ApiError, JSON_BODY_BYTES_MAX, Openapi, Refusal, Request, Response, Route, devices, members,
    text,
};
use serde_json::json;

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
    summary: "Admit a device again that was removed or is in quarantine",
    openapi: Openapi::of(|operation| {
        operation
            .refusals(&[Refusal::Forbidden, Refusal::NameTaken, Refusal::WrongState])
            .body::<Body>(json!({"device": "bench-1"}))
            .reply(
                200,
                "The device, as it was. For administrators, with a credential that is not restricted to \
                 devices.",
                &device::example(),
            );
    }),
    handle,
};

members! {
    struct Body {
        /// Id or name of the device in quarantine; or of the removed one, or the address of its pod, which mean the
        /// one that was made last.
        device: String = required(text(1..=WHICH_CHARS_MAX)),
    }
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let which = parse(request)?;
    let admitted = devices::admit(&which).map_err(|error| device::refusal(error, &which))?;
    Ok(device::reply(&admitted))
}

fn parse(request: &Request) -> Result<String, ApiError> {
    request.json()?.read().map(|body: Body| body.device)
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
