//! `POST /users/{id}/code`: a one-time sign-in code, for who is new or forgot the password.

use guest::{ApiError, Object, Request, Response, Route, users};

use crate::token::NO_STORE;
use crate::{scope, user};

pub(crate) const ROUTE: Route = Route {
    name: "users.code",
    method: "POST",
    pattern: "/users/{id}/code",
    credentials: user::WRITE,
    scope: Some(scope::ADMIN),
    body_limit: 0,
    summary: "Make a one-time sign-in code for a user",
    openapi: guest::compact_json!(include_str!("user_code.json")),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = user::id(request);
    let code = users::issue_code(id).map_err(|error| user::refusal(error, id))?;
    let mut body = Object::new();
    user::code(&code, &mut body);
    let mut response = body.reply(201);
    response.headers.push(NO_STORE.map(str::to_owned).into());
    Ok(response)
}
