//! `POST /plugins/{id}/rollback`: the version before serves again.

use guest::{ApiError, Openapi, Refusal, Request, Response, Route, plugins};

use crate::notes::{self, Notes};
use crate::plugin;

pub(crate) const ROUTE: Route = Route {
    name: "plugins.rollback",
    method: "POST",
    pattern: "/plugins/{id}/rollback",
    credentials: plugin::CREDENTIALS,
    scope: plugin::SCOPE,
    body_limit: 0,
    summary: "Go back to a plugin's version before",
    openapi: Openapi::of(|operation| {
        plugin::describe_id(operation);
        notes::describe_later(operation);
        operation
            .refusals(&[Refusal::Forbidden, Refusal::PluginRefused])
            .reply(
                200,
                "The version before serves.",
                &Notes::example("acme.x 1.0.0 serves"),
            );
    }),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = plugin::id(request);
    notes::reply(plugins::roll_back(id), id)
}
