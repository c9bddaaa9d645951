//! `POST /webhooks/{id}/rotate`: another secret, as when the one before is known to others or lost.

use guest::{ApiError, Openapi, Refusal, Request, Response, Route, webhooks};

use crate::webhook::{self, EXAMPLE_SECRET, NewRecord, reply_with_secret};

pub(crate) const ROUTE: Route = Route {
    name: "webhooks.rotate",
    method: "POST",
    pattern: "/webhooks/{id}/rotate",
    credentials: webhook::CREDENTIALS,
    scope: webhook::SCOPE,
    body_limit: 0,
    summary: "Give a webhook another secret",
    openapi: Openapi::of(|operation| {
        webhook::describe_id(operation);
        operation.refusals(&[Refusal::SecretsUnavailable]).reply(
            200,
            "The webhook with its new secret. Messages are signed with it from the next attempt on.",
            &NewRecord::of(&webhook::example(), EXAMPLE_SECRET),
        );
    }),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = webhook::id(request);
    let rotated = webhooks::rotate(id);
    let rotated = rotated.map_err(|error| webhook::refusal(error, "webhook", id))?;
    Ok(reply_with_secret(200, &rotated))
}
