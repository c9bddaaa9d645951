//! What the user endpoints share: the record, roles, sign-in codes, the refusals.

use guest::{ApiError, Credential, Object, Request, Role, Shape, choice, users};

/// Seeing users goes by key too; changing them, which makes sessions, does not.
pub(crate) const READ: &[Credential] = &[Credential::ApiKey, Credential::UserSession];

/// Signed-in people.
pub(crate) const WRITE: &[Credential] = &[Credential::UserSession];

const ROLES: &[(&str, Role)] = &[
    ("member", Role::Member),
    ("admin", Role::Admin),
    ("owner", Role::Owner),
];

/// Shape of a role's word.
pub(crate) fn role() -> impl Shape<Value = Role> {
    choice(ROLES)
}

/// The word for a role.
pub(crate) fn role_name(role: Role) -> &'static str {
    match role {
        Role::Member => "member",
        Role::Admin => "admin",
        Role::Owner => "owner",
    }
}

/// Write the record of a user.
pub(crate) fn record(user: &users::User, object: &mut Object) {
    object
        .field("id", &user.id)
        .field("login", &user.login)
        .field("role", role_name(user.role))
        .field("disabled", &user.disabled)
        .field("has_password", &user.has_password)
        .field("created_at", &user.created_at)
        .field("signed_in_at", &user.signed_in_at);
}

/// Write a sign-in code.
pub(crate) fn code(code: &users::Code, object: &mut Object) {
    object
        .field("code", &code.code)
        .field("code_expires_at", &code.expires_at)
        .field("code_expires_in", &code.expires_in);
}

/// User id that the path names.
pub(crate) fn id(request: &Request) -> &str {
    request.param(0)
}

/// `id` is the user that was asked for, empty when none was.
pub(crate) fn refusal(error: users::Error, id: &str) -> ApiError {
    match error {
        users::Error::NotFound => ApiError::not_found("user", id),
        users::Error::LoginTaken => {
            ApiError::new(409, "login_taken", "another user has this login")
        }
        users::Error::LastOwner => ApiError::new(
            409,
            "last_owner",
            "this is the organisation's last owner who can sign in; make another user owner first",
        ),
        users::Error::Invalid((field, message)) => ApiError::field(field, message),
        users::Error::Forbidden(message) => ApiError::forbidden(message),
        users::Error::Other(cause) => ApiError::internal(cause),
    }
}

#[cfg(test)]
pub(crate) fn example() -> users::User {
    users::User {
        id: "01JGZ5V9T3N8W2K4Q7R6D1M0XB".into(),
        login: "ada".into(),
        role: Role::Admin,
        disabled: false,
        has_password: true,
        created_at: "2026-01-02T03:04:05Z".into(),
        signed_in_at: None,
    }
}

#[cfg(test)]
mod tests {
    use guest::users::Error;

    use super::refusal;

    #[test]
    fn refusals() {
        for (error, status, code) in [
            (Error::NotFound, 404, "not_found"),
            (Error::LoginTaken, 409, "login_taken"),
            (Error::LastOwner, 409, "last_owner"),
            (
                Error::Invalid(("login".into(), "must be short".into())),
                400,
                "invalid_request",
            ),
            (Error::Forbidden("no".into()), 403, "forbidden"),
            (Error::Other("disk".into()), 500, "internal"),
        ] {
            let error = refusal(error, "u1");
            assert_eq!((error.status, error.code), (status, code));
        }
    }
}
