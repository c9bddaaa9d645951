//! What the endpoints about secrets share: who may use them, the record, the refusals.

use guest::secrets::{Error, Secret, State};
use guest::{ApiError, Credential, Operation, Refusal, Request, Time, words};
use schemars::JsonSchema;
use serde::Serialize;

/// Session tokens are handed to jobs, which get what their pipelines name and nothing else.
pub(crate) const CREDENTIALS: &[Credential] = &[Credential::ApiKey, Credential::UserSession];

/// Longest name, in characters.
const NAME_CHARS_MAX: usize = 64;

/// Names as variables have them, without those of the server.
const NAME_PATTERN: &str = "^(?!HOSTD_|BENCHPOD_)[A-Z][A-Z0-9_]*$";

/// Who may write a pipeline that names secrets must know their names.
pub(crate) const SEE: Option<&str> = Some("jobs:submit");

/// Who may write secrets.
pub(crate) const WRITE: Option<&str> = Some("bench:admin");

words! {
    const STATES: State = {
        Ready = "ready",
        NoKey = "no_key",
        OtherKey = "other_key",
        Damaged = "damaged",
    };
}

/// A secret, without its value.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Secret")]
pub(crate) struct Record<'a> {
    /// As pipelines name it: `{secret: NAME}`.
    name: &'a str,
    /// Whether its value can be read: the server's key file is missing or cannot be used (`no_key`), has another key
    /// than the value is sealed under (`other_key`), or the record is damaged.
    #[schemars(extend("enum" = STATES.all()))]
    state: &'static str,
    /// Patterns of the branches and tags whose jobs may have it; empty = all.
    refs: &'a [String],
    /// User id.
    created_by: &'a str,
    #[schemars(with = "Time")]
    created_at: &'a str,
    /// Id of the user who wrote the value last.
    updated_by: &'a str,
    #[schemars(with = "Time")]
    updated_at: &'a str,
}

impl<'a> From<&'a Secret> for Record<'a> {
    fn from(secret: &'a Secret) -> Self {
        Self {
            name: &secret.name,
            state: STATES.word(secret.state),
            refs: &secret.refs,
            created_by: &secret.created_by,
            created_at: &secret.created_at,
            updated_by: &secret.updated_by,
            updated_at: &secret.updated_at,
        }
    }
}

/// Document the name in the path.
pub(crate) fn describe_name(operation: &mut Operation) {
    operation.path_like(
        "name",
        "Name of the secret: 1 to 64 of A-Z, 0-9 and `_`, beginning with a letter; not `HOSTD_…` or `BENCHPOD_…`.",
        NAME_CHARS_MAX,
        NAME_PATTERN,
    );
}

/// Name in the path.
pub(crate) fn name(request: &Request) -> &str {
    request.param(0)
}

/// `name` is the secret that was asked for, empty when none was.
pub(crate) fn refusal(error: Error, name: &str) -> ApiError {
    match error {
        Error::NotFound => ApiError::not_found("secret", name),
        Error::Invalid((field, rule)) => ApiError::field(field, rule),
        Error::Forbidden(message) => ApiError::forbidden(message),
        Error::Full(sentence) => ApiError::of(Refusal::QuotaExceeded, sentence),
        // No `retry-after`: it stays so until somebody sees to the key file.
        Error::Unavailable(sentence) => ApiError::of(Refusal::SecretsUnavailable, sentence),
        Error::Other(cause) => ApiError::internal(cause),
    }
}

/// A secret, for the documentation.
pub(crate) fn example() -> Secret {
    Secret {
        name: "CAL_TOKEN".into(),
        state: State::Ready,
        refs: vec!["main".into(), "release/*".into()],
        created_by: "01JGZ5V9T3N8W2K4Q7R6D1M0XA".into(),
        created_at: "2026-01-02T03:04:05Z".into(),
        updated_by: "01JGZ5V9T3N8W2K4Q7R6D1M0XA".into(),
        updated_at: "2026-01-02T03:04:05Z".into(),
    }
}

#[cfg(test)]
mod tests {
    use guest::secrets::Error;

    use super::refusal;

    #[test]
    fn refusals() {
        for (error, status, code) in [
            (Error::NotFound, 404, "not_found"),
            (
                Error::Invalid(("value".into(), "must be longer".into())),
                400,
                "invalid_request",
            ),
            (Error::Forbidden("ask an admin".into()), 403, "forbidden"),
            (Error::Full("100 there are".into()), 409, "quota_exceeded"),
            (
                Error::Unavailable("put it back".into()),
                503,
                "secrets_unavailable",
            ),
            (Error::Other("disk".into()), 500, "internal"),
        ] {
            let error = refusal(error, "CAL");
            assert_eq!((error.status, error.code), (status, code));
        }
        assert_eq!(
            refusal(Error::NotFound, "CAL").message,
            "secret not found: CAL"
        );
    }
}
