//! `DELETE /badges/{id}`: show strangers nothing more.

use guest::{ApiError, Openapi, Request, Response, Route, badges};

use crate::badge;

pub(crate) const ROUTE: Route = Route {
    name: "badges.remove",
    method: "DELETE",
    pattern: "/badges/{id}",
    credentials: badge::CREDENTIALS,
    scope: badge::SCOPE,
    body_limit: 0,
    summary: "Remove a badge",
    openapi: Openapi::of(|operation| {
        badge::describe_id(operation);
        operation.reply_empty(204, "Removed; the picture is gone.");
    }),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = badge::id(request);
    badges::remove(id).map_err(|error| badge::refusal(error, id))?;
    Ok(Response::no_content())
}
