//! `POST /webhooks/{id}/test`: see whether messages arrive.

use guest::{ApiError, Openapi, Refusal, Request, Response, Route, webhooks};

use crate::delivery::{self, Record};
use crate::webhook;

pub(crate) const ROUTE: Route = Route {
    name: "webhooks.test",
    method: "POST",
    pattern: "/webhooks/{id}/test",
    credentials: webhook::CREDENTIALS,
    scope: webhook::SCOPE,
    body_limit: 0,
    summary: "Send a test message to a webhook",
    openapi: Openapi::of(|operation| {
        webhook::describe_id(operation);
        operation
            .refusals(&[Refusal::WrongState, Refusal::QuotaExceeded])
            .reply(
                202,
                "A message of type webhook.test is sent at once; its deliveries say what became of it.",
                &Record::from(&delivery::queued()),
            );
    }),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = webhook::id(request);
    let owed = webhooks::test(id).map_err(|error| webhook::refusal(error, "webhook", id))?;
    Ok(Response::json(202, &Record::from(&owed)))
}
