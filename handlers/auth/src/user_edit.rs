//! `PATCH /users/{id}`: another role, shut out or let in again.

use guest::{ApiError, Object, Request, Response, Role, Route, flag, users};

use crate::{scope, user};

pub(crate) const ROUTE: Route = Route {
    name: "users.update",
    method: "PATCH",
    pattern: "/users/{id}",
    credentials: user::WRITE,
    scope: Some(scope::ADMIN),
    body_limit: 4 << 10,
    summary: "Change a user's role, disable or enable it",
    openapi: guest::compact_json!(include_str!("user_edit.json")),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let (role, disabled) = parse(request)?;
    let id = user::id(request);
    let changed = users::update(id, role, disabled).map_err(|error| user::refusal(error, id))?;
    let mut body = Object::new();
    user::record(&changed, &mut body);
    Ok(body.reply(200))
}

fn parse(request: &Request) -> Result<(Option<Role>, Option<bool>), ApiError> {
    let mut body = request.json()?;
    let role = body.optional("role", user::role());
    let disabled = body.optional("disabled", flag());
    body.finish()?;
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
