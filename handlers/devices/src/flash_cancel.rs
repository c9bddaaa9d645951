//! `POST /bench/devices/{id}/flash/{flash_id}/cancel`: end a flash that is running.

use guest::{ApiError, Openapi, Refusal, Request, Response, Route, flashing};

use crate::{device, flash};

pub(crate) const ROUTE: Route = Route {
    name: "devices.flash.cancel",
    method: "POST",
    pattern: "/bench/devices/{id}/flash/{flash_id}/cancel",
    credentials: device::CREDENTIALS,
    scope: device::SCOPE,
    body_limit: 0,
    summary: "Cancel a flash",
    openapi: Openapi::of(|operation| {
        operation
            .refusals(&[Refusal::WrongState, Refusal::LeaseHeld])
            .description("What was erased or programmed stays so; the next flash puts it right.")
            .path(device::ID.0, device::ID.1)
            .path(flash::ID.0, flash::ID.1)
            .reply(
                200,
                "It has ended. Its phase is `cancelled`, unless its end came first.",
                &flash::example(),
            );
    }),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = flash::id(request);
    let ended = flashing::cancel(device::id(request), id);
    let ended = ended.map_err(|error| flash::refusal(error, id))?;
    Ok(flash::reply(200, &ended))
}
