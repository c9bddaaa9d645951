//! `POST /plugins/{id}/enable`: serve a plugin again that was disabled or has failed.

use guest::{ApiError, Openapi, Refusal, Request, Response, Route, plugins};

use crate::notes::{self, Notes};
use crate::plugin;

pub(crate) const ROUTE: Route = Route {
    name: "plugins.enable",
    method: "POST",
    pattern: "/plugins/{id}/enable",
    credentials: plugin::CREDENTIALS,
    scope: plugin::SCOPE,
    body_limit: 0,
    summary: "Serve a plugin again",
    openapi: Openapi::of(|operation| {
        plugin::describe_id(operation);
        notes::describe_later(operation);
        operation
            .refusals(&[Refusal::Forbidden, Refusal::PluginRefused])
            .reply(200, "It serves.", &Notes::example("acme.x 1.0.0 serves"));
    }),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = plugin::id(request);
    notes::reply(plugins::enable(id), id)
}
