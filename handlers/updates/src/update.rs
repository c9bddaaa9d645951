//! What the update endpoints share: who may use them, the record, the refusals.

use guest::updates::{Error, Phase, Update};
use guest::{ApiError, Credential, Refusal, Request, Response, Time, words};
use schemars::JsonSchema;
use serde::Serialize;

use crate::start::IMAGE_BYTES_MAX;

/// The device plane takes every kind of credential.
pub(crate) const CREDENTIALS: &[Credential] = &[
    Credential::ApiKey,
    Credential::UserSession,
    Credential::CloudSession,
];

/// A mistake here takes the bench away from everybody.
pub(crate) const SCOPE: Option<&str> = Some("bench:admin");

/// Seconds after which a caller that found the device in use may ask again.
const BUSY_RETRY_AFTER_S: u32 = 5;

/// The placeholder of the path, and what it is.
pub(crate) const ID: (&str, &str) = ("id", "Device id, from the device list.");

/// Device id that the path names.
pub(crate) fn id(request: &Request) -> &str {
    request.param(0)
}

words! {
    const PHASES: Phase = {
        Idle = "idle",
        Transferring = "transferring",
        Verifying = "verifying",
        Staged = "staged",
        Installing = "installing",
        Rebooting = "rebooting",
        Done = "done",
        Failed = "failed",
        Aborted = "aborted",
    };
}

/// The record of an update as an answer.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Update")]
pub(crate) struct Record<'a> {
    /// ULID of the update; null when the device never had one.
    id: Option<&'a str>,
    /// `transferring`, `verifying` and `staged` can be aborted; nothing is written before `installing`.
    #[schemars(extend("enum" = PHASES.all()))]
    phase: &'static str,
    /// Share of the image that the pod has.
    #[schemars(range(max = 100))]
    percent: u64,
    /// Bytes that the pod has.
    #[schemars(range(max = IMAGE_BYTES_MAX))]
    bytes: u64,
    /// Bytes of the image; 0 when there was no update.
    #[schemars(range(max = IMAGE_BYTES_MAX))]
    total_bytes: u64,
    /// Of the image, lower-case hexadecimal.
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<&'a str>,
    /// What the pod makes of the signature: `none`, `ok`, or what is wrong with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    signature: Option<&'a str>,
    /// Firmware that the pod ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    version_before: Option<&'a str>,
    /// Firmware that the pod runs after its restart.
    #[serde(skip_serializing_if = "Option::is_none")]
    version_after: Option<&'a str>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Time>")]
    created_at: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Time>")]
    finished_at: Option<&'a str>,
}

impl<'a> From<&'a Update> for Record<'a> {
    fn from(update: &'a Update) -> Self {
        Self {
            id: update.id.as_deref(),
            phase: PHASES.word(update.phase),
            percent: percent(update),
            bytes: update.bytes,
            total_bytes: update.total_bytes,
            sha256: update.id.as_ref().map(|_| update.sha256.as_str()),
            signature: update.signature.as_deref(),
            version_before: update.version_before.as_deref(),
            version_after: update.version_after.as_deref(),
            error: update.error.as_deref(),
            created_at: update.created_at.as_deref(),
            finished_at: update.finished_at.as_deref(),
        }
    }
}

/// An update in progress, for the documentation.
pub(crate) fn example() -> Record<'static> {
    Record {
        id: Some("01JGZ5V9T3N8W2K4Q7R6D1M0XC"),
        phase: PHASES.word(Phase::Transferring),
        percent: 25,
        bytes: 131_072,
        total_bytes: 524_288,
        sha256: Some("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        signature: Some("ok"),
        version_before: Some("3.9.4"),
        version_after: None,
        error: None,
        created_at: Some("2026-01-02T03:04:05Z"),
        finished_at: None,
    }
}

/// The update as it now is.
pub(crate) fn reply(status: u16, update: &Update) -> Response {
    Response::json(status, &Record::from(update))
}

fn percent(update: &Update) -> u64 {
    let parts = update.bytes.min(update.total_bytes) * 100;
    parts.checked_div(update.total_bytes).unwrap_or(0)
}

/// `id` is the device that was asked for.
pub(crate) fn refusal(error: Error, id: &str) -> ApiError {
    match error {
        Error::NotFound => ApiError::not_found("device", id),
        Error::NoArtifact => ApiError::of(
            Refusal::NotFound,
            "not found: no build has a file that fits",
        ),
        Error::Offline => ApiError::of(Refusal::DeviceOffline, "the device is offline"),
        Error::Held(busy) => ApiError::held(busy),
        Error::NotCapable(message) => ApiError::of(Refusal::NotCapable, message),
        Error::InUse(message) => {
            ApiError::of(Refusal::DeviceBusy, format!("device is busy: {message}"))
                .retry_after(BUSY_RETRY_AFTER_S)
        }
        Error::WrongState(message) => ApiError::of(Refusal::WrongState, message),
        Error::Forbidden => ApiError::forbidden(
            "updating the firmware of a pod takes an admin's session, or an admin's key with scope bench:admin",
        ),
        Error::Invalid((field, rule)) => ApiError::field(field, rule),
        Error::Refused(text) => ApiError::of(Refusal::PodRefused, text),
        Error::Other(cause) => ApiError::internal(cause),
    }
}

#[cfg(test)]
mod tests {
    use guest::Busy;
    use guest::updates::{Error, Phase, Update};
    use serde_json::json;

    use super::{Record, refusal};

    fn update() -> Update {
        Update {
            id: Some("01X".into()),
            phase: Phase::Failed,
            bytes: 1,
            total_bytes: 8,
            sha256: "ba78".into(),
            signature: Some("ok".into()),
            version_before: Some("3.9.4".into()),
            version_after: Some("3.9.5".into()),
            error: Some("it stayed".into()),
            created_at: Some("2026-01-02T03:04:05Z".into()),
            finished_at: Some("2026-01-02T03:04:06Z".into()),
        }
    }

    #[test]
    fn everything_known_is_told() {
        assert_eq!(
            json!(Record::from(&update())),
            json!({
                "id": "01X", "phase": "failed", "percent": 12, "bytes": 1, "total_bytes": 8,
                "sha256": "ba78", "signature": "ok", "version_before": "3.9.4",
                "version_after": "3.9.5", "error": "it stayed",
                "created_at": "2026-01-02T03:04:05Z", "finished_at": "2026-01-02T03:04:06Z"
            })
        );
    }

    #[test]
    fn a_device_without_an_update_is_idle() {
        let none = Update {
            id: None,
            phase: Phase::Idle,
            bytes: 0,
            total_bytes: 0,
            sha256: String::new(),
            signature: None,
            version_before: None,
            version_after: None,
            error: None,
            created_at: None,
            finished_at: None,
        };
        assert_eq!(
            json!(Record::from(&none)),
            json!({"id": null, "phase": "idle", "percent": 0, "bytes": 0, "total_bytes": 0})
        );
    }

    #[test]
    fn refusals() {
        let busy = Busy {
            holder: Some("ci run 7".into()),
            expires_at: None,
            lost: false,
            making_safe: false,
            obstacle: None,
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
