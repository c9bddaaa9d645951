//! `DELETE /github/trust/{id}`: forget a rule; what it let in is out.

use guest::{ApiError, Request, Response, Route, trust};

use crate::{rule, scope};

pub(crate) const ROUTE: Route = Route {
    name: "trust.remove",
    method: "DELETE",
    pattern: "/github/trust/{id}",
    credentials: rule::CREDENTIALS,
    scope: Some(scope::ADMIN),
    body_limit: 0,
    summary: "Remove a trust rule",
    openapi: guest::compact_json!(include_str!("rule_remove.json")),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = rule::id(request);
    trust::remove(id).map_err(|error| rule::refusal(error, id))?;
    Ok(Response::no_content())
}
