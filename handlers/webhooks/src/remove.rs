//! `DELETE /webhooks/{id}`: tell somebody nothing more.

use guest::{ApiError, Openapi, Request, Response, Route, webhooks};

use crate::webhook;

pub(crate) const ROUTE: Route = Route {
    name: "webhooks.remove",
    method: "DELETE",
    pattern: "/webhooks/{id}",
    credentials: webhook::CREDENTIALS,
    scope: webhook::SCOPE,
    body_limit: 0,
    summary: "Remove a webhook",
    openapi: Openapi::of(|operation| {
        webhook::describe_id(operation);
        operation.reply_empty(204, "Removed, with all its deliveries.");
    }),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = webhook::id(request);
    webhooks::remove(id).map_err(|error| webhook::refusal(error, "webhook", id))?;
    Ok(Response::no_content())
}
