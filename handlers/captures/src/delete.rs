//! `DELETE /capture/{id}`: forget a capture and its samples.

use guest::{ApiError, Openapi, Refusal, Request, Response, Route, captures};

use crate::{capture, refusal};

pub(crate) const ROUTE: Route = Route {
    name: "captures.delete",
    method: "DELETE",
    pattern: "/capture/{id}",
    credentials: capture::CREDENTIALS,
    scope: capture::SCOPE,
    body_limit: 0,
    summary: "Delete a capture",
    openapi: Openapi::of(|operation| {
        operation
            .path(capture::ID.0, capture::ID.1)
            .refusals(&[Refusal::WrongState])
            .reply_empty(
                204,
                "Deleted; one that ran was cancelled first. One that is pinned is refused.",
            );
    }),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = capture::id(request);
    captures::delete(id).map_err(|error| refusal::of(error, "capture", id))?;
    Ok(Response::no_content())
}
