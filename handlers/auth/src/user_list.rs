//! `GET /users`: the users of the organisation.

use guest::{ApiError, Object, Request, Response, Route, users};

use crate::{scope, user};

pub(crate) const ROUTE: Route = Route {
    name: "users.list",
    method: "GET",
    pattern: "/users",
    credentials: user::READ,
    scope: Some(scope::ADMIN),
    body_limit: 0,
    summary: "List users",
    openapi: guest::compact_json!(
        r#"{"responses":{"200":{"description":"The users, oldest first.","content":{"application/json":{"schema":{"type":"object","required":["users"],"properties":{"users":{"type":"array","items":"#,
        include_str!("user.schema.json"),
        r#"}}},"example":{"users":["#,
        include_str!("user.example.json"),
        "]}}}}}}",
    ),
    handle,
};

fn handle(_: &Request) -> Result<Response, ApiError> {
    let users = users::list().map_err(|error| user::refusal(error, ""))?;
    Ok(reply(&users))
}

fn reply(users: &[users::User]) -> Response {
    let mut body = Object::new();
    body.array("users", users, user::record);
    body.reply(200)
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
                "role": "admin",
                "disabled": false,
                "has_password": true,
                "created_at": "2026-01-02T03:04:05Z",
                "signed_in_at": null
            }]})
        );
    }
}
