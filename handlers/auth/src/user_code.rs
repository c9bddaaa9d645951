//! `POST /users/{id}/code`: a one-time sign-in code, for somebody who is new or forgot the
//! password.

use guest::{ApiError, Openapi, Request, Response, Route, Time, users};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{scope, token, user};

pub(crate) const ROUTE: Route = Route {
    name: "users.code",
    method: "POST",
    pattern: "/users/{id}/code",
    credentials: user::WRITE,
    scope: Some(scope::ADMIN),
    body_limit: 0,
    summary: "Make a one-time sign-in code for a user",
    openapi: Openapi::of(|operation| {
        user::describe_id(operation);
        operation.reply(
            201,
            "A sign-in code, in place of earlier ones.",
            &Code::from(&user::example_code()),
        );
    }),
    handle,
};

/// A sign-in code.
#[derive(Serialize, JsonSchema)]
struct Code<'a> {
    /// Signs the user in once.
    code: &'a str,
    #[schemars(with = "Time")]
    code_expires_at: &'a str,
    /// Seconds.
    code_expires_in: u32,
}

impl<'a> From<&'a users::Code> for Code<'a> {
    fn from(code: &'a users::Code) -> Self {
        Self {
            code: &code.code,
            code_expires_at: &code.expires_at,
            code_expires_in: code.expires_in,
        }
    }
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = user::id(request);
    let code = users::issue_code(id).map_err(|error| user::refusal(error, id))?;
    Ok(token::secret(201, &Code::from(&code)))
}
