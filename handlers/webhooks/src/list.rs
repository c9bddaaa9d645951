//! `GET /webhooks`: the webhooks of the organisation.

use guest::webhooks::{self, Webhook};
use guest::{ApiError, Openapi, Request, Response, Route};
use schemars::JsonSchema;
use serde::Serialize;

use crate::webhook::{self, Record};

pub(crate) const ROUTE: Route = Route {
    name: "webhooks.list",
    method: "GET",
    pattern: "/webhooks",
    credentials: webhook::CREDENTIALS,
    scope: webhook::SCOPE,
    body_limit: 0,
    summary: "List webhooks",
    openapi: Openapi::of(|operation| {
        let example = [webhook::example()];
        operation.reply(200, "The webhooks, oldest first.", &records(&example));
    }),
    handle,
};

/// The webhooks of an organisation.
#[derive(Serialize, JsonSchema)]
struct Webhooks<'a> {
    webhooks: Vec<Record<'a>>,
}

fn records(webhooks: &[Webhook]) -> Webhooks<'_> {
    Webhooks {
        webhooks: webhooks.iter().map(Record::of).collect(),
    }
}

fn handle(_: &Request) -> Result<Response, ApiError> {
    let found = webhooks::list().map_err(|error| webhook::refusal(error, "webhook", ""))?;
    Ok(Response::json(200, &records(&found)))
}
