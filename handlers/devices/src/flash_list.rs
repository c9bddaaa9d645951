//! `GET /bench/devices/{id}/flash`: the last flashes of a device.

use guest::{ApiError, Openapi, Request, Response, Route, flashing};
use schemars::JsonSchema;
use serde::Serialize;

use crate::device;
use crate::flash::{self, FLASHES_MAX, Record};

pub(crate) const ROUTE: Route = Route {
    name: "devices.flash.list",
    method: "GET",
    pattern: "/bench/devices/{id}/flash",
    credentials: device::CREDENTIALS,
    scope: device::SCOPE,
    body_limit: 0,
    summary: "Last flashes of a device",
    openapi: Openapi::of(|operation| {
        let example = Listed {
            flashes: vec![flash::example()],
        };
        operation
            .description("The last 16 since the server was started.")
            .path(device::ID.0, device::ID.1)
            .reply(200, "Newest first.", &example);
    }),
    handle,
};

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Flashes")]
struct Listed<'a> {
    #[schemars(length(max = FLASHES_MAX))]
    flashes: Vec<Record<'a>>,
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = device::id(request);
    let found = flashing::list(id).map_err(|error| flash::refusal(error, id))?;
    let listed = Listed {
        flashes: found.iter().map(Record::from).collect(),
    };
    Ok(Response::json(200, &listed))
}
