//! `DELETE /bench/devices/{id}`: put a device into its safe state and forget it. Its wiring stays, for the
//! case that it is admitted again.

use guest::{ApiError, JSON_BODY_BYTES_MAX, Request, Response, Route, devices, flag, text};

use crate::device;

/// Longest label of a holder.
const HOLDER_CHARS_MAX: usize = 40;

pub(crate) const ROUTE: Route = Route {
    name: "devices.remove",
    method: "DELETE",
    pattern: "/bench/devices/{id}",
    credentials: device::CREDENTIALS,
    scope: device::SCOPE,
    body_limit: JSON_BODY_BYTES_MAX,
    summary: "Remove a device",
    openapi: guest::compact_json!(
        r#"{"refusals":["forbidden","lease_held"],"parameters":["#,
        include_str!("id.parameter.json"),
        r#"],"requestBody":"#,
        include_str!("remove.body.json"),
        r#","responses":{"204":{"description":"Removed, after its safe state. For administrators, with a credential that is not restricted to devices. A pod that is still attached comes back only after re-admission."}}}"#,
    ),
    handle,
};

#[derive(Debug, Default, PartialEq)]
struct Ask {
    holder: Option<String>,
    overriding: bool,
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let ask = parse(request)?;
    let id = device::id(request);
    devices::remove(id, ask.holder.as_deref(), ask.overriding)
        .map_err(|error| device::refusal(error, id))?;
    Ok(Response::no_content())
}

fn parse(request: &Request) -> Result<Ask, ApiError> {
    let mut body = request.json_or_empty()?;
    let ask = Ask {
        holder: body.optional("holder", text(1..=HOLDER_CHARS_MAX)),
        overriding: body.or("override", flag(), false),
    };
    body.finish()?;
    Ok(ask)
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
            overriding: true,
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
