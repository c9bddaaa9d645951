//! `DELETE /users/{id}`: forget a user, with its keys and sessions.

use guest::{ApiError, Openapi, Refusal, Request, Response, Route, users};

use crate::{scope, user};

pub(crate) const ROUTE: Route = Route {
    name: "users.remove",
    method: "DELETE",
    pattern: "/users/{id}",
    credentials: user::WRITE,
    scope: Some(scope::ADMIN),
    body_limit: 0,
    summary: "Remove a user",
    openapi: Openapi::of(|operation| {
        user::describe_id(operation);
        operation
            .refusals(&[Refusal::LastOwner])
            .reply_empty(204, "Removed; its keys and sessions are void.");
    }),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = user::id(request);
    users::remove(id).map_err(|error| user::refusal(error, id))?;
    Ok(Response::no_content())
}
