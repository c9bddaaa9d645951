//! `DELETE /github/trust/{id}`: remove a rule and end the sessions that it let in.

use guest::{ApiError, Openapi, Request, Response, Route, trust};

use crate::{rule, scope};

pub(crate) const ROUTE: Route = Route {
    name: "trust.remove",
    method: "DELETE",
    pattern: "/github/trust/{id}",
    credentials: rule::CREDENTIALS,
    scope: Some(scope::ADMIN),
    body_limit: 0,
    summary: "Remove a trust rule",
    openapi: Openapi::of(|operation| {
        rule::describe_id(operation);
        operation.reply_empty(204, "Removed; what it let in is out.");
    }),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = rule::id(request);
    trust::remove(id).map_err(|error| rule::refusal(error, id))?;
    Ok(Response::no_content())
}
