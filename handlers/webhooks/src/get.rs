//! `GET /webhooks/{id}`: one webhook.

use guest::{ApiError, Openapi, Request, Response, Route, webhooks};

use crate::webhook::{self, Record};

pub(crate) const ROUTE: Route = Route {
    name: "webhooks.get",
    method: "GET",
    pattern: "/webhooks/{id}",
    credentials: webhook::CREDENTIALS,
    scope: webhook::SCOPE,
    body_limit: 0,
    summary: "Get a webhook",
    openapi: Openapi::of(|operation| {
        webhook::describe_id(operation);
        let example = webhook::example();
        operation.reply(
            200,
            "The webhook, without its secret.",
            &Record::of(&example),
        );
    }),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = webhook::id(request);
    let found = webhooks::get(id).map_err(|error| webhook::refusal(error, "webhook", id))?;
    Ok(Response::json(200, &Record::of(&found)))
}
