//! `POST /capture/{id}/cancel`: stop a capture that has not finished.

use guest::{ApiError, Openapi, Refusal, Request, Response, Route, captures};

use crate::capture::{self, Record};
use crate::refusal;

pub(crate) const ROUTE: Route = Route {
    name: "captures.cancel",
    method: "POST",
    pattern: "/capture/{id}/cancel",
    credentials: capture::CREDENTIALS,
    scope: capture::SCOPE,
    body_limit: 0,
    summary: "Cancel a capture",
    openapi: Openapi::of(|operation| {
        operation
            .refusals(&[Refusal::WrongState])
            .path(capture::ID.0, capture::ID.1)
            .reply(
                200,
                "The capture, as it now is.",
                &Record::new(&capture::example()),
            );
    }),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = capture::id(request);
    let info = captures::cancel(id).map_err(|error| refusal::of(error, "capture", id))?;
    Ok(Response::json(200, &Record::new(&info)))
}
