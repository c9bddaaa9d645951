//! What the endpoints about trust rules share: who may use them, the record, the refusals.

use guest::{ApiError, Credential, Operation, Refusal, Request, Shape, Time, trust};
use schemars::JsonSchema;
use serde::Serialize;

use crate::device::{self, Device};

/// Signed-in people only: a rule lets others in, which no key may do.
pub(crate) const CREDENTIALS: &[Credential] = &[Credential::UserSession];

/// Most devices of one rule.
const DEVICES_MAX: usize = 32;

/// Device names, at least one.
pub(crate) fn devices() -> impl Shape<Value = Vec<String>> {
    device::names(DEVICES_MAX)
}

/// Rule id that the path names.
pub(crate) fn id(request: &Request) -> &str {
    request.param(0)
}

/// Document the rule id in the path.
pub(crate) fn describe_id(operation: &mut Operation) {
    operation.path("id", "Rule id.");
}

/// A rule that lets CI runs in.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Rule")]
pub(crate) struct Record<'a> {
    id: &'a str,
    /// `owner/name`, or `owner/*`.
    repository: &'a str,
    /// Pattern of the full ref; null = every ref.
    r#ref: Option<&'a str>,
    environment: Option<&'a str>,
    /// Devices it is restricted to; null = all of the organisation.
    devices: Option<Vec<Device<'a>>>,
    /// Life of the session tokens.
    ttl_seconds: u32,
    enabled: bool,
    /// User for whom the sessions act.
    user: &'a str,
    #[schemars(with = "Time")]
    created_at: &'a str,
}

impl<'a> From<&'a trust::Rule> for Record<'a> {
    fn from(rule: &'a trust::Rule) -> Self {
        Self {
            id: &rule.id,
            repository: &rule.repository,
            r#ref: rule.ref_.as_deref(),
            environment: rule.environment.as_deref(),
            devices: rule.devices.as_deref().map(device::records),
            ttl_seconds: rule.ttl_seconds,
            enabled: rule.enabled,
            user: &rule.user,
            created_at: &rule.created_at,
        }
    }
}

/// A rule, for the documentation.
pub(crate) fn example() -> trust::Rule {
    trust::Rule {
        id: "01JGZ5V9T3N8W2K4Q7R6D1M0XA".into(),
        repository: "acme/blinky".into(),
        ref_: Some("refs/heads/main".into()),
        environment: None,
        devices: Some(device::example()),
        ttl_seconds: 3600,
        enabled: true,
        user: "01JGZ5V9T3N8W2K4Q7R6D1M0XB".into(),
        created_at: "2026-01-02T03:04:05Z".into(),
    }
}

/// `id` is the rule that was asked for, empty when none was.
pub(crate) fn refusal(error: trust::Error, id: &str) -> ApiError {
    match error {
        trust::Error::NotFound => ApiError::not_found("trust rule", id),
        trust::Error::UnknownDevice(name) => ApiError::not_found("device", &name),
        trust::Error::Invalid((field, message)) => ApiError::field(field, message),
        trust::Error::Forbidden(message) => ApiError::forbidden(message),
        trust::Error::Rejected(message) => ApiError::of(Refusal::InvalidCredential, message),
        trust::Error::Untrusted => ApiError::of(
            Refusal::NotTrusted,
            "no trust rule lets this run in; an admin of the organisation can add one for its repository",
        ),
        trust::Error::Ambiguous => ApiError::of(
            Refusal::Ambiguous,
            "several organisations trust this run; keep the rule in one of them",
        ),
        trust::Error::Unavailable => ApiError::of(
            Refusal::KeysUnavailable,
            "the identity provider's keys cannot be had at the moment; retry shortly",
        )
        .retry_after(60),
        trust::Error::Other(cause) => ApiError::internal(cause),
    }
}

#[cfg(test)]
mod tests {
    use guest::trust::Error;
    use serde_json::json;

    use super::{Record, example, refusal};

    #[test]
    fn what_a_rule_leaves_open_is_null() {
        let mut rule = example();
        let told = json!(Record::from(&rule));
        assert_eq!(
            told["devices"],
            json!([{"id": "01JGZ5V9T3N8W2K4Q7R6D1M0XD", "name": "bench-1"}])
        );
        assert_eq!(told["ref"], "refs/heads/main");
        rule.devices = None;
        let told = json!(Record::from(&rule));
        assert_eq!(
            (&told["devices"], &told["environment"]),
            (&json!(null), &json!(null))
        );
        assert_eq!(told.as_object().unwrap().len(), 9);
    }

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
