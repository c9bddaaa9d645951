//! `GET /bench/devices/{id}/ota`: the update in progress, or the last one.

use guest::{ApiError, Openapi, Request, Response, Route, updates};

use crate::update;

pub(crate) const ROUTE: Route = Route {
    name: "updates.get",
    method: "GET",
    pattern: "/bench/devices/{id}/ota",
    credentials: update::CREDENTIALS,
    scope: update::SCOPE,
    body_limit: 0,
    summary: "Progress of the update of a pod",
    openapi: Openapi::of(|operation| {
        operation.path(update::ID.0, update::ID.1).reply(
            200,
            "The last update of the device, or `idle`.",
            &update::example(),
        );
    }),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = update::id(request);
    let found = updates::get(id).map_err(|error| update::refusal(error, id))?;
    Ok(update::reply(200, &found))
}
