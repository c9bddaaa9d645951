//! `DELETE /secrets/{name}`: delete a secret for good.

use guest::{ApiError, Openapi, Refusal, Request, Response, Route, secrets};

use crate::secret;

pub(crate) const ROUTE: Route = Route {
    name: "secrets.remove",
    method: "DELETE",
    pattern: "/secrets/{name}",
    credentials: secret::CREDENTIALS,
    scope: secret::WRITE,
    body_limit: 0,
    summary: "Remove a secret",
    openapi: Openapi::of(|operation| {
        secret::describe_name(operation);
        operation.refusals(&[Refusal::Forbidden]).reply_empty(
            204,
            "Removed. Attempts of jobs that begin from now on do not get it.",
        );
    }),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let name = secret::name(request);
    secrets::remove(name).map_err(|error| secret::refusal(error, name))?;
    Ok(Response::no_content())
}
