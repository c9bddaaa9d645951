//! What the key endpoints share: who may use them, the record, the refusals.

use guest::{ApiError, Credential, Object, Request, keys};

/// Longest name of a key, in characters.
pub(crate) const NAME_CHARS_MAX: usize = 64;

/// Cloud-session tokens are handed to jobs and must not be able to make or list keys.
pub(crate) const CREDENTIALS: &[Credential] = &[Credential::ApiKey, Credential::UserSession];

/// Write the record of a key. The secret is no part of it.
pub(crate) fn record(key: &keys::Key, object: &mut Object) {
    object
        .field("kid", &key.kid)
        .field("name", &key.name)
        .field("owner", &key.owner)
        .field("scopes", &key.scopes)
        .field("created_at", &key.created_at)
        .field("last_used_at", &key.last_used_at)
        .field("expires_at", &key.expires_at);
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

#[cfg(test)]
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
