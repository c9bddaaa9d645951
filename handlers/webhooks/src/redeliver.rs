//! `POST /webhooks/{id}/deliveries/{delivery}/redeliver`: send a message once more, under its id.

use guest::{ApiError, Openapi, Refusal, Request, Response, Route, webhooks};

use crate::delivery::{self, Record};
use crate::webhook;

pub(crate) const ROUTE: Route = Route {
    name: "webhooks.redeliver",
    method: "POST",
    pattern: "/webhooks/{id}/deliveries/{delivery}/redeliver",
    credentials: webhook::CREDENTIALS,
    scope: webhook::SCOPE,
    body_limit: 0,
    summary: "Send a message to a webhook once more",
    openapi: Openapi::of(|operation| {
        webhook::describe_id(operation);
        operation
            .refusals(&[Refusal::WrongState, Refusal::QuotaExceeded])
            .path("delivery", "Delivery id.")
            .reply(
                202,
                "It is sent at once, and counts as new.",
                &Record::from(&delivery::queued()),
            );
    }),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let (id, delivery) = (webhook::id(request), request.param(1));
    let owed = webhooks::redeliver(id, delivery);
    let owed = owed.map_err(|error| webhook::refusal(error, "delivery", delivery))?;
    Ok(Response::json(202, &Record::from(&owed)))
}
