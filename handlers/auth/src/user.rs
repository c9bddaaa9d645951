//! What the user endpoints share: the record, roles, sign-in codes, the refusals.

use guest::{ApiError, Credential, Operation, Refusal, Request, Role, Time, users, words};
use schemars::JsonSchema;
use serde::Serialize;

/// A key may list users too. Changing them creates sessions, which no key may do.
pub(crate) const READ: &[Credential] = &[Credential::ApiKey, Credential::UserSession];

/// Signed-in people.
pub(crate) const WRITE: &[Credential] = &[Credential::UserSession];

words! {
    /// Roles of users.
    pub(crate) const ROLES: Role = {
        Member = "member",
        Admin = "admin",
        Owner = "owner",
    };
}

/// Declares the record of a user, with what else an answer adds to it.
macro_rules! record {
    (
        $(#[$meta:meta])*
        $name:ident { $($(#[$member:meta])* $more:ident: $type:ty),* $(,)? }
    ) => {
        $(#[$meta])*
        #[derive(Serialize, JsonSchema)]
        pub(crate) struct $name<'a> {
            id: &'a str,
            login: &'a str,
            #[schemars(extend("enum" = ROLES.all()))]
            role: &'static str,
            disabled: bool,
            has_password: bool,
            #[schemars(with = "Time")]
            created_at: &'a str,
            /// null = never.
            #[schemars(with = "Option<Time>")]
            signed_in_at: Option<&'a str>,
            $($(#[$member])* $more: $type,)*
        }

        impl<'a> $name<'a> {
            pub(crate) fn of(user: &'a users::User $(, $more: $type)*) -> Self {
                Self {
                    id: &user.id,
                    login: &user.login,
                    role: ROLES.word(user.role),
                    disabled: user.disabled,
                    has_password: user.has_password,
                    created_at: &user.created_at,
                    signed_in_at: user.signed_in_at.as_deref(),
                    $($more,)*
                }
            }
        }
    };
}

record! {
    /// A user of the organisation.
    User {}
}

record! {
    /// A user that was just added.
    NewUser {
        /// Signs the user in once.
        code: &'a str,
        #[schemars(with = "Time")]
        code_expires_at: &'a str,
        /// Seconds.
        code_expires_in: u32,
    }
}

/// Document the user id in the path.
pub(crate) fn describe_id(operation: &mut Operation) {
    operation.path("id", "User id.");
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
            ApiError::of(Refusal::LoginTaken, "another user has this login")
        }
        users::Error::LastOwner => ApiError::of(
            Refusal::LastOwner,
            "this is the organisation's last owner who can sign in; make another user owner first",
        ),
        users::Error::Invalid((field, message)) => ApiError::field(field, message),
        users::Error::Forbidden(message) => ApiError::forbidden(message),
        users::Error::Other(cause) => ApiError::internal(cause),
    }
}

/// A user, for the documentation.
pub(crate) fn example() -> users::User {
    users::User {
        id: "01JGZ5V9T3N8W2K4Q7R6D1M0XB".into(),
        login: "ada".into(),
        role: Role::Member,
        disabled: false,
        has_password: true,
        created_at: "2026-01-02T03:04:05Z".into(),
        signed_in_at: None,
    }
}

/// A sign-in code, for the documentation.
pub(crate) fn example_code() -> users::Code {
    users::Code {
        code: "4fGk2mXyW0nQ8sBv4fGk2mXy".into(),
        expires_at: "2026-01-02T03:19:05Z".into(),
        expires_in: 900,
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
