//! `PUT /bench/devices/{id}/wiring`: store a wiring profile in place of the previous one. If the
//! device is held, only its holder or an administrator may do so.

use guest::{ApiError, Openapi, Refusal, Request, Response, Route, Shape, devices};
use serde_json::{Map, Value};

use crate::{device, edit, wiring, wiring_get};

pub(crate) const ROUTE: Route = Route {
    name: "devices.wiring_put",
    method: "PUT",
    pattern: "/bench/devices/{id}/wiring",
    credentials: device::CREDENTIALS,
    scope: device::SCOPE,
    body_limit: 64 << 10,
    summary: "Store the wiring profile of a device",
    openapi: Openapi::of(|operation| {
        operation
            .refusals(&[Refusal::LeaseHeld])
            .path(device::ID.0, device::ID.1)
            .content(
                "application/json",
                wiring::Profile::Whole.schema(),
                wiring_get::example(),
            );
        wiring_get::describe(operation);
    }),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let profile = parse(request)?;
    let id = device::id(request);
    devices::changeable(id).map_err(|error| device::refusal(error, id))?;
    wiring::check_chip(&profile, "swd_target")?;
    edit::store_wiring(id, &profile)?;
    Ok(wiring_get::reply(Some(&profile)))
}

fn parse(request: &Request) -> Result<Map<String, Value>, ApiError> {
    let profile = request.json()?.rest();
    wiring::check(&profile)?;
    Ok(profile)
}

#[cfg(test)]
mod tests {
    use guest::testing::request;

    use super::parse;

    #[test]
    fn the_example_is_accepted_and_a_bad_profile_is_not() {
        let mut example = request("");
        example.body = guest::testing::request_example(&super::ROUTE);
        assert!(parse(&example).is_ok());
        let error = parse(&request(r#"{"uart_rx":99}"#)).unwrap_err();
        assert_eq!(
            (error.status, error.fields[0].field.as_str()),
            (400, "uart_rx")
        );
    }
}
