//! `GET /plugins/{id}`: how a plugin stands.

use guest::{ApiError, Openapi, Refusal, Request, Response, Route, plugins};

use crate::plugin::{self, Record};

pub(crate) const ROUTE: Route = Route {
    name: "plugins.get",
    method: "GET",
    pattern: "/plugins/{id}",
    credentials: plugin::CREDENTIALS,
    scope: plugin::SCOPE,
    body_limit: 0,
    summary: "Look at a plugin",
    openapi: Openapi::of(|operation| {
        plugin::describe_id(operation);
        operation.refusals(&[Refusal::Forbidden]).reply(
            200,
            "The plugin.",
            &Record::from(&plugin::example()),
        );
    }),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = plugin::id(request);
    let found = plugins::get(id).map_err(|error| plugin::refusal(error, id))?;
    Ok(Response::json(200, &Record::from(&found)))
}
