//! What the key endpoints share: who may use them, the record, the refusals.

use guest::{ApiError, Credential, NAME, Operation, Request, Shape, Time, alike, keys};
use schemars::JsonSchema;
use serde::Serialize;

use crate::scope;

/// Longest name of a key, in characters.
const NAME_CHARS_MAX: usize = 64;

/// Cloud-session tokens are handed to jobs and must not be able to make or list keys.
pub(crate) const CREDENTIALS: &[Credential] = &[Credential::ApiKey, Credential::UserSession];

pub(crate) fn name() -> impl Shape<Value = String> {
    alike(1..=NAME_CHARS_MAX, &NAME)
}

/// Declares the record of a key, with what else an answer adds to it.
macro_rules! record {
    (
        $(#[$meta:meta])*
        $name:ident { $($(#[$member:meta])* $more:ident: $type:ty),* $(,)? }
    ) => {
        $(#[$meta])*
        #[derive(Serialize, JsonSchema)]
        pub(crate) struct $name<'a> {
            /// Public part of the key, 12 characters.
            kid: &'a str,
            name: &'a str,
            /// User id; the key acts as this user.
            owner: &'a str,
            #[schemars(extend("items" = scope::stored()))]
            scopes: &'a [String],
            #[schemars(with = "Time")]
            created_at: &'a str,
            #[schemars(with = "Option<Time>")]
            last_used_at: Option<&'a str>,
            /// null = never.
            #[schemars(with = "Option<Time>")]
            expires_at: Option<&'a str>,
            $($(#[$member])* $more: $type,)*
        }

        impl<'a> $name<'a> {
            pub(crate) fn of(key: &'a keys::Key $(, $more: $type)*) -> Self {
                Self {
                    kid: &key.kid,
                    name: &key.name,
                    owner: &key.owner,
                    scopes: &key.scopes,
                    created_at: &key.created_at,
                    last_used_at: key.last_used_at.as_deref(),
                    expires_at: key.expires_at.as_deref(),
                    $($more,)*
                }
            }
        }
    };
}

record! {
    /// An API key, without its secret.
    Key {}
}

record! {
    /// An API key that was just made.
    NewKey {
        /// The whole key, shown this once: `Authorization: ApiKey <secret>`.
        secret: &'a str,
    }
}

/// Document the key id in the path.
pub(crate) fn describe_kid(operation: &mut Operation) {
    operation.path("kid", "Public part of the key.");
}

/// Key id that the path names.
pub(crate) fn kid(request: &Request) -> &str {
    request.param(0)
}

/// `kid` is the key that was asked for, empty when none was.
pub(crate) fn refusal(error: keys::Error, kid: &str) -> ApiError {
    match error {
        keys::Error::NotFound => ApiError::not_found("key", kid),
        keys::Error::Invalid((field, message)) => ApiError::field(field, message),
        keys::Error::Forbidden(message) => ApiError::forbidden(message),
        keys::Error::Other(cause) => ApiError::internal(cause),
    }
}

/// A key, for the documentation.
pub(crate) fn example() -> keys::Key {
    keys::Key {
        kid: "k3J9xQ2mVbN0".into(),
        name: "ci".into(),
        owner: "01JGZ5V9T3N8W2K4Q7R6D1M0XA".into(),
        scopes: vec!["bench:control".into()],
        created_at: "2026-01-02T03:04:05Z".into(),
        last_used_at: None,
        expires_at: Some("2027-01-02T03:04:05Z".into()),
    }
}

#[cfg(test)]
mod tests {
    use guest::keys::Error;

    use super::refusal;

    #[test]
    fn refusals() {
        for (error, status, code, message) in [
            (Error::NotFound, 404, "not_found", "key not found: k1"),
            (
                Error::Invalid(("name".into(), "is taken".into())),
                400,
                "invalid_request",
                "name is taken",
            ),
            (
                Error::Forbidden("only owners may".into()),
                403,
                "forbidden",
                "only owners may",
            ),
        ] {
            let error = refusal(error, "k1");
            assert_eq!(
                (error.status, error.code, error.message.as_str()),
                (status, code, message)
            );
        }
        assert_eq!(refusal(Error::Other("disk".into()), "k1").status, 500);
    }
}
