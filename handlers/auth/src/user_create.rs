//! `POST /users`: a new user, and the code for the first sign-in.

use guest::{ApiError, Openapi, Refusal, Request, Response, Role, Route, members, spelled, users};
use serde_json::json;

use crate::user::NewUser;
use crate::{scope, token, user};

/// Longest login, in characters.
const LOGIN_CHARS_MAX: usize = 64;

pub(crate) const ROUTE: Route = Route {
    name: "users.create",
    method: "POST",
    pattern: "/users",
    credentials: user::WRITE,
    scope: Some(scope::ADMIN),
    body_limit: 4 << 10,
    summary: "Add a user",
    openapi: Openapi::of(|operation| {
        let new = users::User {
            has_password: false,
            ..user::example()
        };
        operation
            .refusals(&[Refusal::LoginTaken])
            .body::<Ask>(json!({"login": "ada", "role": "member"}))
            .reply(
                201,
                "The user, with a code for its first sign-in.",
                &record(&new, &user::example_code()),
            );
    }),
    handle,
};

members! {
    struct Ask {
        /// Letters, digits and . _ @ + -
        login: String = required(spelled(1..=LOGIN_CHARS_MAX, "A-Za-z0-9._@+-")),
        role: Role = or(user::ROLES.shape(), Role::Member),
    }
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let (login, role) = parse(request)?;
    users::create(&login, role)
        .map(|(user, code)| reply(&user, &code))
        .map_err(|error| user::refusal(error, ""))
}

fn parse(request: &Request) -> Result<(String, Role), ApiError> {
    let ask: Ask = request.json()?.read()?;
    Ok((ask.login, ask.role))
}

fn record<'a>(user: &'a users::User, code: &'a users::Code) -> NewUser<'a> {
    NewUser::of(user, &code.code, &code.expires_at, code.expires_in)
}

fn reply(user: &users::User, code: &users::Code) -> Response {
    token::secret(201, &record(user, code))
}

#[cfg(test)]
mod tests {
    use guest::Role;
    use guest::testing::request;

    use super::parse;

    #[test]
    fn body() {
        let (login, role) = parse(&request(r#"{"login":"ada"}"#)).unwrap();
        assert_eq!((login.as_str(), role), ("ada", Role::Member));
        let owner = parse(&request(r#"{"login":"ada","role":"owner"}"#)).unwrap();
        assert_eq!(owner.1, Role::Owner);
        for (body, field) in [
            ("{}", "login"),
            (r#"{"login":""}"#, "login"),
            (r#"{"login":"a","role":"root"}"#, "role"),
            (r#"{"login":"a","password":"x"}"#, "password"),
        ] {
            let error = parse(&request(body)).unwrap_err();
            assert_eq!((error.status, error.fields[0].field.as_str()), (400, field));
        }
    }
}
