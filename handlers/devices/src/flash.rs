//! What the flash endpoints share: the record and the refusals.

use guest::flashing::{Error, Flash, Outcome, Phase};
use guest::{ApiError, Object, Response};

/// Flash id that the path names.
pub(crate) fn id(request: &guest::Request) -> &str {
    request.param(1)
}

fn phase(phase: Phase) -> &'static str {
    match phase {
        Phase::Preparing => "preparing",
        Phase::Connecting => "connecting",
        Phase::Erasing => "erasing",
        Phase::Programming => "programming",
        Phase::Verifying => "verifying",
        Phase::Resetting => "resetting",
        Phase::Done => "done",
        Phase::Failed => "failed",
        Phase::Cancelled => "cancelled",
    }
}

/// The record of a flash as an answer.
pub(crate) fn reply(status: u16, flash: &Flash) -> Response {
    let mut body = Object::new();
    record(flash, &mut body);
    body.reply(status)
}

/// Write the record of a flash. What it ended with is there once it has.
pub(crate) fn record(flash: &Flash, object: &mut Object) {
    object
        .field("id", &flash.id)
        .field("device_id", &flash.device)
        .field("target", &flash.target)
        .field("phase", phase(flash.phase))
        .field("percent", &flash.percent)
        .field("phase_bytes", &flash.bytes)
        .field("phase_total_bytes", &flash.total_bytes)
        .field("created_at", &flash.created_at)
        .field("finished_at", &flash.finished_at)
        .object("artifact", |object| artifact(flash, object));
    if let Some(outcome) = &flash.outcome {
        write(outcome, object);
    }
}

/// Write the answer to who waited for the end.
pub(crate) fn result(flash: &Flash, outcome: &Outcome, object: &mut Object) {
    object
        .field("id", &flash.id)
        .object("artifact", |object| artifact(flash, object));
    write(outcome, object);
}

fn artifact(flash: &Flash, object: &mut Object) {
    let artifact = &flash.artifact;
    object
        .field("name", &artifact.name)
        .field("size_bytes", &artifact.size_bytes)
        .field("sha256", &artifact.sha256);
    if let Some(build) = &artifact.build {
        object.field("job_id", build).field("pack_id", PACK);
    }
}

/// Reported builds have one part.
pub(crate) const PACK: &str = "external";

fn write(outcome: &Outcome, object: &mut Object) {
    object.field("ok", &outcome.error.is_none());
    if let Some((code, sentence)) = &outcome.error {
        object.field("code", code).field("error", sentence);
    }
    object
        .field("target_unreachable", &outcome.target_unreachable)
        .field("output", &outcome.output)
        .field("bytes", &outcome.bytes)
        .field("chip", &outcome.chip)
        .field("duration_ms", &outcome.duration_ms);
}

/// `id` is the device that was asked for.
pub(crate) fn refusal(error: Error, id: &str) -> ApiError {
    match error {
        Error::NotFound(what) => ApiError::not_found(&what, id),
        Error::Offline => ApiError::new(
            503,
            "device_offline",
            "the device is offline; nothing was sent to it",
        ),
        Error::Held(busy) => ApiError::held(busy),
        Error::Busy(why) => ApiError::new(409, "device_busy", format!("the device is busy: {why}")),
        Error::Overloaded(seconds) => ApiError::new(
            503,
            "overloaded",
            "as many flashes run as the server takes; retry shortly",
        )
        .retry_after(seconds),
        Error::Invalid((field, message)) => ApiError::field(field, message),
        Error::Ended => ApiError::new(409, "wrong_state", "the flash has ended"),
        Error::Other(cause) => ApiError::internal(cause),
    }
}

#[cfg(test)]
pub(crate) fn example() -> Flash {
    Flash {
        id: "01JGZ5V9T3N8W2K4Q7R6D1M0XB".into(),
        device: "01JGZ5V9T3N8W2K4Q7R6D1M0XA".into(),
        target: "target/stm32f0x.cfg".into(),
        artifact: guest::flashing::Artifact {
            name: "fw.elf".into(),
            size_bytes: 52_000,
            sha256: "ba78".into(),
            build: Some("01JGZ5V9T3N8W2K4Q7R6D1M0XC".into()),
        },
        phase: Phase::Failed,
        percent: 26,
        bytes: 1024,
        total_bytes: 12_288,
        created_at: "2026-01-02T03:04:05Z".into(),
        finished_at: Some("2026-01-02T03:04:06Z".into()),
        outcome: Some(Outcome {
            error: Some(("target_lost".into(), "the target went away".into())),
            target_unreachable: true,
            output: "connecting\n".into(),
            bytes: 0,
            chip: None,
            duration_ms: 900,
        }),
    }
}

#[cfg(test)]
mod tests {
    use guest::Busy;
    use guest::Object;
    use guest::flashing::Error;
    use guest::testing::json;

    use super::{example, record, refusal, result};

    #[test]
    fn a_failure_has_a_code_and_a_sentence() {
        let flash = example();
        let mut object = Object::new();
        record(&flash, &mut object);
        let whole = json(&object.reply(200));
        let mut object = Object::new();
        result(&flash, flash.outcome.as_ref().unwrap(), &mut object);
        let short = json(&object.reply(200));
        for body in [&whole, &short] {
            assert_eq!(body["ok"], false);
            assert_eq!(body["code"], "target_lost");
            assert_eq!(body["artifact"]["pack_id"], "external");
        }
        assert_eq!(
            (&whole["phase"], &whole["percent"]),
            (&"failed".into(), &26.into())
        );
    }

    #[test]
    fn a_success_has_none_and_a_running_one_neither() {
        let mut flash = example();
        flash.outcome.as_mut().unwrap().error = None;
        flash.artifact.build = None;
        let mut object = Object::new();
        record(&flash, &mut object);
        let body = json(&object.reply(200));
        assert_eq!(body["ok"], true);
        assert!(body.get("error").is_none() && body["artifact"].get("job_id").is_none());
        flash.outcome = None;
        let mut object = Object::new();
        record(&flash, &mut object);
        assert!(json(&object.reply(200)).get("ok").is_none());
    }

    #[test]
    fn refusals() {
        let busy = Busy {
            holder: None,
            expires_at: None,
            making_safe: false,
            place: None,
            retry_after_s: 1,
        };
        for (error, status, code) in [
            (Error::NotFound("flash".into()), 404, "not_found"),
            (Error::Offline, 503, "device_offline"),
            (Error::Held(busy), 409, "lease_held"),
            (Error::Busy("it flashes".into()), 409, "device_busy"),
            (Error::Overloaded(9), 503, "overloaded"),
            (
                Error::Invalid(("target".into(), "is odd".into())),
                400,
                "invalid_request",
            ),
            (Error::Ended, 409, "wrong_state"),
            (Error::Other("disk".into()), 500, "internal"),
        ] {
            let error = refusal(error, "d1");
            assert_eq!((error.status, error.code), (status, code));
        }
    }
}
