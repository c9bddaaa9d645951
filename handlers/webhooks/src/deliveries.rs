//! `GET /webhooks/{id}/deliveries`: what became of the last messages.

use guest::webhooks::{self, Delivery};
use guest::{ApiError, Openapi, Request, Response, Route};
use schemars::JsonSchema;
use serde::Serialize;

use crate::delivery::{self, Record};
use crate::webhook;

pub(crate) const ROUTE: Route = Route {
    name: "webhooks.deliveries",
    method: "GET",
    pattern: "/webhooks/{id}/deliveries",
    credentials: webhook::CREDENTIALS,
    scope: webhook::SCOPE,
    body_limit: 0,
    summary: "List the last messages to a webhook",
    openapi: Openapi::of(|operation| {
        webhook::describe_id(operation);
        let example = [delivery::example()];
        operation.reply(200, "The last 100, newest first.", &records(&example));
    }),
    handle,
};

/// The last messages to a webhook.
#[derive(Serialize, JsonSchema)]
struct Deliveries<'a> {
    deliveries: Vec<Record<'a>>,
}

fn records(deliveries: &[Delivery]) -> Deliveries<'_> {
    Deliveries {
        deliveries: deliveries.iter().map(Record::from).collect(),
    }
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = webhook::id(request);
    let found = webhooks::deliveries(id);
    let found = found.map_err(|error| webhook::refusal(error, "webhook", id))?;
    Ok(Response::json(200, &records(&found)))
}
