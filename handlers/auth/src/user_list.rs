//! `GET /users`: the users of the organisation.

use guest::{ApiError, Openapi, Request, Response, Route, users};
use schemars::JsonSchema;
use serde::Serialize;

use crate::user::User;
use crate::{scope, user};

pub(crate) const ROUTE: Route = Route {
    name: "users.list",
    method: "GET",
    pattern: "/users",
    credentials: user::READ,
    scope: Some(scope::ADMIN),
    body_limit: 0,
    summary: "List users",
    openapi: Openapi::of(|operation| {
        operation.reply(
            200,
            "The users, oldest first.",
            &records(&[user::example()]),
        );
    }),
    handle,
};

/// The users of an organisation.
#[derive(Serialize, JsonSchema)]
struct Users<'a> {
    users: Vec<User<'a>>,
}

fn records(users: &[users::User]) -> Users<'_> {
    Users {
        users: users.iter().map(User::of).collect(),
    }
}

fn handle(_: &Request) -> Result<Response, ApiError> {
    let users = users::list().map_err(|error| user::refusal(error, ""))?;
    Ok(reply(&users))
}

fn reply(users: &[users::User]) -> Response {
    Response::json(200, &records(users))
}

#[cfg(test)]
mod tests {
    use guest::testing::json;
    use serde_json::json;

    #[test]
    fn records() {
        let response = super::reply(&[crate::user::example()]);
        assert_eq!(
            json(&response),
            json!({"users": [{
                "id": "01JGZ5V9T3N8W2K4Q7R6D1M0XB",
                "login": "ada",
                "role": "member",
                "disabled": false,
                "has_password": true,
                "created_at": "2026-01-02T03:04:05Z",
                "signed_in_at": null
            }]})
        );
    }
}
