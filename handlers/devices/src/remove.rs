//! `DELETE /bench/devices/{id}`: forget a device and its wiring.

use guest::{ApiError, Request, Response, Route, devices, store};

use crate::{device, edit};

pub(crate) const ROUTE: Route = Route {
    name: "devices.remove",
    method: "DELETE",
    pattern: "/bench/devices/{id}",
    credentials: device::CREDENTIALS,
    scope: device::SCOPE,
    body_limit: 0,
    summary: "Remove a device",
    openapi: guest::compact_json!(
        r#"{"parameters":["#,
        include_str!("id.parameter.json"),
        r#"],"responses":{"204":{"description":"Removed. A pod that is still attached comes back only after re-admission."}}}"#,
    ),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = device::id(request);
    devices::remove(id).map_err(|error| device::refusal(error, id))?;
    store::delete(&edit::wiring_key(id)).map_err(edit::store_refusal)?;
    Ok(Response::no_content())
}
