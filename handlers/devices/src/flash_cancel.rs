//! `POST /bench/devices/{id}/flash/{flash_id}/cancel`: end a flash that runs.

use guest::{ApiError, Request, Response, Route, flashing};

use crate::{device, flash};

pub(crate) const ROUTE: Route = Route {
    name: "devices.flash.cancel",
    method: "POST",
    pattern: "/bench/devices/{id}/flash/{flash_id}/cancel",
    credentials: device::CREDENTIALS,
    scope: device::SCOPE,
    body_limit: 0,
    summary: "Cancel a flash",
    openapi: guest::compact_json!(
        r#"{"refusals":["wrong_state","lease_held"],"description":"What was erased or programmed stays so; the next flash puts it right.","parameters":["#,
        include_str!("id.parameter.json"),
        ",",
        include_str!("flash_id.parameter.json"),
        r#"],"responses":{"200":{"description":"It has ended. Its phase is `cancelled`, unless its end came first.","content":{"application/json":{"schema":"#,
        include_str!("flash.schema.json"),
        r#","example":"#,
        include_str!("flash.example.json"),
        r#"}}}}}"#,
    ),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = flash::id(request);
    let ended = flashing::cancel(device::id(request), id);
    let ended = ended.map_err(|error| flash::refusal(error, id))?;
    Ok(flash::reply(200, &ended))
}
