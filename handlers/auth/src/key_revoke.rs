//! `DELETE /keys/{kid}`: revoke a key for good, with every session token minted from it.

use guest::{ApiError, Openapi, Request, Response, Route, keys};

use crate::{key, scope};

pub(crate) const ROUTE: Route = Route {
    name: "keys.revoke",
    method: "DELETE",
    pattern: "/keys/{kid}",
    credentials: key::CREDENTIALS,
    scope: Some(scope::ADMIN),
    body_limit: 0,
    summary: "Revoke an API key",
    openapi: Openapi::of(|operation| {
        key::describe_kid(operation);
        operation.reply_empty(204, "Revoked, with every session token minted from it.");
    }),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let kid = key::kid(request);
    keys::revoke(kid).map_err(|error| key::refusal(error, kid))?;
    Ok(Response::no_content())
}
