//! What the update endpoints share: who may use them, the record, the refusals.

use guest::updates::{Error, Phase, Update};
use guest::{ApiError, Credential, Object, Request, Response};

/// The device plane takes every kind of credential.
pub(crate) const CREDENTIALS: &[Credential] = &[
    Credential::ApiKey,
    Credential::UserSession,
    Credential::CloudSession,
];

/// A mistake here takes the bench away from everybody.
pub(crate) const SCOPE: Option<&str> = Some("bench:admin");

/// Seconds until whoever found the device in use may ask again.
const BUSY_RETRY_AFTER_S: u32 = 5;

/// Device id that the path names.
pub(crate) fn id(request: &Request) -> &str {
    request.param(0)
}

/// The record of an update as an answer.
pub(crate) fn reply(status: u16, update: &Update) -> Response {
    let mut body = Object::new();
    record(update, &mut body);
    body.reply(status)
}

fn record(update: &Update, object: &mut Object) {
    object
        .field("id", &update.id)
        .field("phase", word(update.phase))
        .field("percent", &percent(update))
        .field("bytes", &update.bytes)
        .field("total_bytes", &update.total_bytes);
    if update.id.is_some() {
        object.field("sha256", &update.sha256);
    }
    object
        .some("signature", update.signature.as_ref())
        .some("version_before", update.version_before.as_ref())
        .some("version_after", update.version_after.as_ref())
        .some("error", update.error.as_ref())
        .some("created_at", update.created_at.as_ref())
        .some("finished_at", update.finished_at.as_ref());
}

pub(crate) fn word(phase: Phase) -> &'static str {
    match phase {
        Phase::Idle => "idle",
        Phase::Transferring => "transferring",
        Phase::Verifying => "verifying",
        Phase::Staged => "staged",
        Phase::Installing => "installing",
        Phase::Rebooting => "rebooting",
        Phase::Done => "done",
        Phase::Failed => "failed",
        Phase::Aborted => "aborted",
    }
}

fn percent(update: &Update) -> u64 {
    let parts = update.bytes.min(update.total_bytes) * 100;
    parts.checked_div(update.total_bytes).unwrap_or(0)
}

/// `id` is the device that was asked for.
pub(crate) fn refusal(error: Error, id: &str) -> ApiError {
    match error {
        Error::NotFound => ApiError::not_found("device", id),
        Error::NoArtifact => {
            ApiError::new(404, "not_found", "not found: no build has a file that fits")
        }
        Error::Offline => ApiError::new(503, "device_offline", "the device is offline"),
        Error::Held(busy) => ApiError::held(busy),
        Error::NotCapable(message) => ApiError::new(400, "not_capable", message),
        Error::InUse(message) => {
            ApiError::new(409, "device_busy", format!("device is busy: {message}"))
                .retry_after(BUSY_RETRY_AFTER_S)
        }
        Error::WrongState(message) => ApiError::new(409, "wrong_state", message),
        Error::Forbidden => ApiError::forbidden(
            "updating the firmware of a pod takes an admin's session, or an admin's key with scope bench:admin",
        ),
        Error::Invalid((field, rule)) => ApiError::field(field, rule),
        Error::Refused(text) => ApiError::new(502, "pod_refused", text),
        Error::Other(cause) => ApiError::internal(cause),
    }
}

#[cfg(test)]
pub(crate) fn example() -> Update {
    Update {
        id: Some("01JGZ5V9T3N8W2K4Q7R6D1M0XC".into()),
        phase: Phase::Transferring,
        bytes: 131_072,
        total_bytes: 524_288,
        sha256: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad".into(),
        signature: Some("ok".into()),
        version_before: Some("3.9.4".into()),
        version_after: None,
        error: None,
        created_at: Some("2026-01-02T03:04:05Z".into()),
        finished_at: None,
    }
}

#[cfg(test)]
mod tests {
    use guest::Busy;
    use guest::Object;
    use guest::testing::json;
    use guest::updates::{Error, Phase};
    use serde_json::{Value, json};

    use super::{example, record, refusal};

    fn written(update: &guest::updates::Update) -> Value {
        let mut body = Object::new();
        record(update, &mut body);
        json(&body.reply(200))
    }

    #[test]
    fn record_is_the_documented_example() {
        let expected: Value = serde_json::from_str(include_str!("update.example.json")).unwrap();
        assert_eq!(written(&example()), expected);
    }

    #[test]
    fn a_device_without_an_update_is_idle() {
        let mut update = example();
        update.id = None;
        update.phase = Phase::Idle;
        (update.bytes, update.total_bytes) = (0, 0);
        update.signature = None;
        update.version_before = None;
        update.created_at = None;
        assert_eq!(
            written(&update),
            json!({"id": null, "phase": "idle", "percent": 0, "bytes": 0, "total_bytes": 0})
        );
    }

    #[test]
    fn refusals() {
        let busy = Busy {
            holder: Some("ci run 7".into()),
            expires_at: None,
            making_safe: false,
            place: None,
            retry_after_s: 7,
        };
        for (error, status, code) in [
            (Error::NotFound, 404, "not_found"),
            (Error::NoArtifact, 404, "not_found"),
            (Error::Offline, 503, "device_offline"),
            (Error::Held(busy), 409, "lease_held"),
            (Error::NotCapable("no".into()), 400, "not_capable"),
            (Error::InUse("a tunnel".into()), 409, "device_busy"),
            (Error::WrongState("no".into()), 409, "wrong_state"),
            (Error::Forbidden, 403, "forbidden"),
            (
                Error::Invalid(("sha256".into(), "is wrong".into())),
                400,
                "invalid_request",
            ),
            (Error::Refused("no".into()), 502, "pod_refused"),
            (Error::Other("disk".into()), 500, "internal"),
        ] {
            let error = refusal(error, "01X");
            assert_eq!((error.status, error.code), (status, code));
        }
    }
}
