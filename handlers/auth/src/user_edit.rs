//! `PATCH /users/{id}`: change a user's role, or shut a user out or let one in again.

use guest::{ApiError, Openapi, Refusal, Request, Response, Role, Route, flag, members, users};
use serde_json::json;

use crate::user::User;
use crate::{scope, user};

pub(crate) const ROUTE: Route = Route {
    name: "users.update",
    method: "PATCH",
    pattern: "/users/{id}",
    credentials: user::WRITE,
    scope: Some(scope::ADMIN),
    body_limit: 4 << 10,
    summary: "Change a user's role, disable or enable it",
    openapi: Openapi::of(|operation| {
        let admin = users::User {
            role: Role::Admin,
            ..user::example()
        };
        user::describe_id(operation);
        operation
            .refusals(&[Refusal::LastOwner])
            .body::<Ask>(json!({"role": "admin"}))
            .reply(200, "The user as it is now.", &User::of(&admin));
    }),
    handle,
};

members! {
    struct Ask {
        role: Option<Role> = optional(user::ROLES.shape()),
        /// true ends its sessions and stops its keys.
        disabled: Option<bool> = optional(flag()),
    }
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let (role, disabled) = parse(request)?;
    let id = user::id(request);
    let changed = users::update(id, role, disabled).map_err(|error| user::refusal(error, id))?;
    Ok(Response::json(200, &User::of(&changed)))
}

fn parse(request: &Request) -> Result<(Option<Role>, Option<bool>), ApiError> {
    let Ask { role, disabled } = request.json()?.read()?;
    if role.is_none() && disabled.is_none() {
        return Err(ApiError::invalid("give role, disabled or both"));
    }
    Ok((role, disabled))
}

#[cfg(test)]
mod tests {
    use guest::Role;
    use guest::testing::request;

    use super::parse;

    #[test]
    fn something_must_change() {
        assert_eq!(
            parse(&request(r#"{"role":"admin","disabled":true}"#)).unwrap(),
            (Some(Role::Admin), Some(true))
        );
        for body in ["", "{}", r#"{"role":null}"#, r#"{"disabled":"yes"}"#] {
            assert_eq!(parse(&request(body)).unwrap_err().status, 400, "{body}");
        }
    }
}
