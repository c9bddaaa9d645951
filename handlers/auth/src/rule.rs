//! What the endpoints about trust rules share: who may use them, the record, the refusals.

use guest::{ApiError, Credential, Object, Request, Shape, list, text, trust};

/// Signed-in people: a rule lets others in, which no key may do.
pub(crate) const CREDENTIALS: &[Credential] = &[Credential::UserSession];

/// Most devices of one rule.
const DEVICES_MAX: usize = 32;

/// Longest device name.
const DEVICE_NAME_CHARS_MAX: usize = 64;

/// Device names, at least one.
pub(crate) fn devices() -> impl Shape<Value = Vec<String>> {
    list(text(1..=DEVICE_NAME_CHARS_MAX), 1..=DEVICES_MAX)
}

/// Rule id that the path names.
pub(crate) fn id(request: &Request) -> &str {
    request.param(0)
}

/// Write the record of a rule.
pub(crate) fn record(rule: &trust::Rule, object: &mut Object) {
    object
        .field("id", &rule.id)
        .field("repository", &rule.repository)
        .field("ref", &rule.ref_)
        .field("environment", &rule.environment);
    match &rule.devices {
        Some(devices) => object.array("devices", devices, |(id, name), item| {
            item.field("id", id).field("name", name);
        }),
        None => object.raw("devices", "null"),
    };
    object
        .field("ttl_seconds", &rule.ttl_seconds)
        .field("enabled", &rule.enabled)
        .field("user", &rule.user)
        .field("created_at", &rule.created_at);
}

/// `id` is the rule that was asked for, empty when none was.
pub(crate) fn refusal(error: trust::Error, id: &str) -> ApiError {
    match error {
        trust::Error::NotFound => ApiError::not_found("trust rule", id),
        trust::Error::UnknownDevice(name) => ApiError::not_found("device", &name),
        trust::Error::Invalid((field, message)) => ApiError::field(field, message),
        trust::Error::Forbidden(message) => ApiError::forbidden(message),
        trust::Error::Rejected(message) => ApiError::new(401, "invalid_credential", message),
        trust::Error::Untrusted => ApiError::new(
            403,
            "not_trusted",
            "no trust rule lets this run in; an admin of the organisation can add one for its repository",
        ),
        trust::Error::Ambiguous => ApiError::new(
            409,
            "ambiguous",
            "several organisations trust this run; keep the rule in one of them",
        ),
        trust::Error::Unavailable => ApiError::new(
            503,
            "keys_unavailable",
            "the identity provider's keys cannot be had at the moment; retry shortly",
        )
        .retry_after(60),
        trust::Error::Other(cause) => ApiError::internal(cause),
    }
}

#[cfg(test)]
mod tests {
    use guest::trust::Error;

    use super::refusal;

    #[test]
    fn refusals() {
        for (error, status, code) in [
            (Error::NotFound, 404, "not_found"),
            (Error::UnknownDevice("d".into()), 404, "not_found"),
            (Error::Forbidden("no".into()), 403, "forbidden"),
            (Error::Rejected("bad".into()), 401, "invalid_credential"),
            (Error::Untrusted, 403, "not_trusted"),
            (Error::Ambiguous, 409, "ambiguous"),
            (Error::Unavailable, 503, "keys_unavailable"),
            (Error::Other("disk".into()), 500, "internal"),
        ] {
            let error = refusal(error, "r1");
            assert_eq!((error.status, error.code), (status, code));
        }
    }
}
