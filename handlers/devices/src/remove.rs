//! `DELETE /bench/devices/{id}`: put a device into its safe state and forget it. Its wiring stays, in case
//! it is admitted again.

use guest::{
    ApiError, HOLDER_CHARS_MAX, JSON_BODY_BYTES_MAX, Openapi, Refusal, Request, Response, Route,
    devices, flag, members, text,
};
use serde_json::json;

use crate::device;

pub(crate) const ROUTE: Route = Route {
    name: "devices.remove",
    method: "DELETE",
    pattern: "/bench/devices/{id}",
    credentials: device::CREDENTIALS,
    scope: device::SCOPE,
    body_limit: JSON_BODY_BYTES_MAX,
    summary: "Remove a device",
    openapi: Openapi::of(|operation| {
        operation
            .refusals(&[Refusal::Forbidden, Refusal::LeaseHeld])
            .path(device::ID.0, device::ID.1)
            .body::<Ask>(json!({"holder": "CI: acme/firmware 1187"}))
            .body_may_be_absent()
            .reply_empty(
                204,
                "Removed, after its safe state. For administrators, with a credential that is not \
                 restricted to devices. A pod that is still attached comes back only after re-admission.",
            );
    }),
    handle,
};

members! {
    #[derive(Debug, Default, PartialEq)]
    struct Ask {
        /// The label of the holder from whom the device is taken. Without it a device that is held stays.
        /// 409 when somebody else holds it by now.
        holder: Option<String> = optional(text(1..=HOLDER_CHARS_MAX)),
        /// Remove the device though it owes a safe state that its pod has not acknowledged. The target may
        /// stay powered.
        r#override: bool = or(flag(), false),
    }
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let ask = parse(request)?;
    let id = device::id(request);
    devices::remove(id, ask.holder.as_deref(), ask.r#override)
        .map_err(|error| device::refusal(error, id))?;
    Ok(Response::no_content())
}

fn parse(request: &Request) -> Result<Ask, ApiError> {
    request.json_or_empty()?.read()
}

#[cfg(test)]
mod tests {
    use guest::testing::request;

    use super::{Ask, parse};

    #[test]
    fn a_body_may_name_the_holder() {
        assert_eq!(parse(&request("")), Ok(Ask::default()));
        let body = r#"{"holder":"run 7","override":true}"#;
        let ask = Ask {
            holder: Some("run 7".into()),
            r#override: true,
        };
        assert_eq!(parse(&request(body)), Ok(ask));
        for body in [r#"{"holder":""}"#, r#"{"override":1}"#, r#"{"force":true}"#] {
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
