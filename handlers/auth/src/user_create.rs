//! `POST /users`: a new user, and the code it signs in with the first time.

use guest::{ApiError, Object, Request, Response, Role, Route, text, users};

use crate::token::NO_STORE;
use crate::{scope, user};

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
    openapi: guest::compact_json!(include_str!("user_create.json")),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let (login, role) = parse(request)?;
    users::create(&login, role)
        .map(|(user, code)| reply(&user, &code))
        .map_err(|error| user::refusal(error, ""))
}

fn parse(request: &Request) -> Result<(String, Role), ApiError> {
    let mut body = request.json()?;
    let login = body.required("login", text(1..=LOGIN_CHARS_MAX));
    let role = body.or("role", user::role(), Role::Member);
    body.finish()?;
    Ok((login, role))
}

fn reply(user: &users::User, code: &users::Code) -> Response {
    let mut body = Object::new();
    user::record(user, &mut body);
    user::code(code, &mut body);
    let mut response = body.reply(201);
    response.headers.push(NO_STORE.map(str::to_owned).into());
    response
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
