//! `POST /plugins/{id}/disable`: stop serving a plugin, and keep everything of it.

use guest::{ApiError, Openapi, Refusal, Request, Response, Route, plugins};

use crate::notes::{self, Notes};
use crate::plugin;

pub(crate) const ROUTE: Route = Route {
    name: "plugins.disable",
    method: "POST",
    pattern: "/plugins/{id}/disable",
    credentials: plugin::CREDENTIALS,
    scope: plugin::SCOPE,
    body_limit: 0,
    summary: "Stop serving a plugin",
    openapi: Openapi::of(|operation| {
        plugin::describe_id(operation);
        notes::describe_later(operation);
        operation
            .refusals(&[Refusal::Forbidden, Refusal::PluginRefused])
            .reply(
                200,
                "It is not served any more; requests that are on their way end.",
                &Notes::example("acme.x is disabled"),
            );
    }),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = plugin::id(request);
    notes::reply(plugins::disable(id), id)
}
