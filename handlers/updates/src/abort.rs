//! `POST /bench/devices/{id}/ota/abort`: have the pod drop a staged image.

use guest::{ApiError, Openapi, Refusal, Request, Response, Route, updates};

use crate::update;

pub(crate) const ROUTE: Route = Route {
    name: "updates.abort",
    method: "POST",
    pattern: "/bench/devices/{id}/ota/abort",
    credentials: update::CREDENTIALS,
    scope: update::SCOPE,
    body_limit: 0,
    summary: "Give the update of a pod up",
    openapi: Openapi::of(|operation| {
        operation
            .refusals(&[Refusal::WrongState])
            .path(update::ID.0, update::ID.1)
            .reply(
                200,
                "The pod has dropped the image; the update as it now is.",
                &update::example(),
            );
    }),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = update::id(request);
    let found = updates::abort(id).map_err(|error| update::refusal(error, id))?;
    Ok(update::reply(200, &found))
}
