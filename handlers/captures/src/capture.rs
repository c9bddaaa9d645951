//! What the capture endpoints share: who may use them, the record, the refusals.

use guest::captures::{self, Channel, ChannelType, Error, Info, Kind, Started, Status};
use guest::{ApiError, Credential, Object, Request, Response};

/// The device plane takes every kind of credential.
pub(crate) const CREDENTIALS: &[Credential] = &[
    Credential::ApiKey,
    Credential::UserSession,
    Credential::CloudSession,
];

/// Drive devices.
pub(crate) const SCOPE: Option<&str> = Some("bench:control");

/// Seconds after which it is worth asking a busy device again.
const BUSY_RETRY_AFTER_S: u32 = 1;

/// Capture id that the path names.
pub(crate) fn id(request: &Request) -> &str {
    request.param(0)
}

/// Start a capture and tell its id; the caller watches it with `GET /capture/{id}`.
pub(crate) fn start(order: &captures::Order) -> Result<Response, ApiError> {
    captures::start(order)
        .map(|capture| started(&capture))
        .map_err(|error| refusal(error, "device", &order.device))
}

fn started(capture: &Started) -> Response {
    let (info, warnings) = (&capture.info, &capture.warnings);
    let mut body = Object::new();
    body.field("capture_id", &info.id)
        .field("status", status(info.status))
        .some("warnings", (!warnings.is_empty()).then_some(warnings));
    body.reply(202)
}

/// Write the head of a capture's record: everything but frames and decoded events.
pub(crate) fn head(info: &Info, object: &mut Object) {
    object
        .field("id", &info.id)
        .field("device_id", &info.device_id)
        .field("kind", kind(info.kind))
        .some("name", info.name.as_ref())
        .field("status", status(info.status))
        .some("error", info.error.as_ref())
        .field("created_at", &info.created_at)
        .some("finished_at", info.finished_at.as_ref());
    if let Some(fired) = info.triggered {
        object.object("trigger", |trigger| {
            // There is no pre-trigger: the instant it fires becomes sample 0.
            trigger
                .field("fired", &fired)
                .field("index", &fired.then_some(0));
        });
    }
    object.array("channels", &info.channels, channel);
}

fn channel(channel: &Channel, object: &mut Object) {
    let kind = match channel.type_ {
        ChannelType::Analog => "analog",
        ChannelType::Digital => "digital",
    };
    object
        .field("id", &channel.id)
        .field("type", kind)
        .field("name", &channel.name)
        .field("unit", &channel.unit)
        .field("sample_rate_hz", &channel.sample_rate_hz)
        .field("samples", &channel.samples)
        .field("bits", &channel.bits)
        .field("full_scale", &channel.full_scale)
        .field("offset", &channel.offset);
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Scope => "scope",
        Kind::Logic => "logic",
        Kind::I2c => "i2c",
        Kind::Dual => "dual",
        Kind::Measure => "measure",
    }
}

fn status(status: Status) -> &'static str {
    match status {
        Status::Pending => "pending",
        Status::Armed => "armed",
        Status::Running => "running",
        Status::Done => "done",
        Status::Failed => "failed",
        Status::TimedOut => "timed_out",
        Status::Cancelled => "cancelled",
    }
}

/// A limit of the organisation is reached.
pub(crate) fn no_room(limit: &str) -> ApiError {
    ApiError::new(
        409,
        "quota_exceeded",
        format!("there is no room: {limit}; remove captures that nobody needs"),
    )
}

/// `what` (`capture` or `device`) with this id was asked for.
pub(crate) fn refusal(error: Error, what: &str, id: &str) -> ApiError {
    match error {
        Error::NotFound => ApiError::not_found(what, id),
        Error::NoWaveform => ApiError::new(
            404,
            "not_found",
            "not found: the stimulus is no waveform that is kept",
        ),
        Error::Offline => ApiError::new(503, "device_offline", "the device is offline"),
        Error::Held(busy) => ApiError::held(busy),
        Error::Busy => ApiError::new(
            409,
            "device_busy",
            "device is busy: its capture hardware is in use and enough captures wait for it",
        )
        .retry_after(BUSY_RETRY_AFTER_S),
        Error::InUse(message) => {
            ApiError::new(409, "device_busy", format!("device is busy: {message}"))
                .retry_after(BUSY_RETRY_AFTER_S)
        }
        Error::NotCapable(message) => ApiError::new(400, "not_capable", message),
        Error::Invalid((field, message)) => ApiError::field(field, message),
        Error::Unready((field, message)) => {
            let mut error = ApiError::field(field, message);
            (error.status, error.code) = (409, "wrong_state");
            error
        }
        Error::WrongState(message) => ApiError::new(409, "wrong_state", message),
        Error::Full(limit) => no_room(&limit),
        Error::Other(cause) => ApiError::internal(cause),
    }
}

#[cfg(test)]
pub(crate) fn example() -> Info {
    Info {
        id: "01JGZ5V9T3N8W2K4Q7R6D1M0XC".into(),
        device_id: "01JGZ5V9T3N8W2K4Q7R6D1M0XA".into(),
        kind: Kind::I2c,
        name: Some("boot".into()),
        status: Status::Done,
        error: None,
        created_at: "2026-01-02T03:04:05Z".into(),
        finished_at: Some("2026-01-02T03:04:06Z".into()),
        triggered: Some(true),
        channels: vec![Channel {
            id: 0,
            type_: ChannelType::Digital,
            name: "LA1".into(),
            unit: String::new(),
            sample_rate_hz: 1_000_000.0,
            samples: 100_000,
            bits: 1,
            full_scale: 1.0,
            offset: 0.0,
        }],
        i2c: Some((1, 2)),
    }
}

#[cfg(test)]
mod tests {
    use guest::Object;
    use guest::captures::{ChannelType, Error, Kind, Started, Status};
    use guest::testing::json;
    use serde_json::{Value, json};

    use super::{example, head, refusal, started};

    #[test]
    fn head_is_the_documented_example() {
        let mut body = Object::new();
        head(&example(), &mut body);
        let expected: Value = serde_json::from_str(include_str!("capture.example.json")).unwrap();
        assert_eq!(json(&body.reply(200)), expected);
    }

    #[test]
    fn absent_members_and_states() {
        for (status, word) in [
            (Status::Pending, "pending"),
            (Status::Armed, "armed"),
            (Status::Running, "running"),
            (Status::Failed, "failed"),
            (Status::TimedOut, "timed_out"),
            (Status::Cancelled, "cancelled"),
        ] {
            let mut info = example();
            info.status = status;
            info.kind = Kind::Scope;
            info.name = None;
            info.finished_at = None;
            info.triggered = (status != Status::Pending).then_some(false);
            info.error = Some("unplugged".into());
            info.channels[0].type_ = ChannelType::Analog;
            let mut body = Object::new();
            head(&info, &mut body);
            let body = json(&body.reply(200));
            assert_eq!(body["status"], word);
            assert_eq!(
                (&body["kind"], &body["error"]),
                (&json!("scope"), &json!("unplugged"))
            );
            assert!(body.get("name").is_none() && body.get("finished_at").is_none());
            let trigger =
                (status != Status::Pending).then(|| json!({"fired": false, "index": null}));
            assert_eq!(body.get("trigger"), trigger.as_ref());
            assert_eq!(body["channels"][0]["type"], "analog");
        }
    }

    #[test]
    fn started_is_202_with_the_id() {
        let mut info = example();
        info.status = Status::Pending;
        let mut capture = Started {
            info,
            warnings: Vec::new(),
        };
        let response = started(&capture);
        assert_eq!(response.status, 202);
        assert_eq!(
            json(&response),
            json!({"capture_id": "01JGZ5V9T3N8W2K4Q7R6D1M0XC", "status": "pending"})
        );
        capture.warnings.push("slower".into());
        assert_eq!(json(&started(&capture))["warnings"], json!(["slower"]));
    }

    #[test]
    fn refusals() {
        for (error, status, code, message) in [
            (Error::NotFound, 404, "not_found", "device not found: 01X"),
            (
                Error::Offline,
                503,
                "device_offline",
                "the device is offline",
            ),
            (
                Error::Busy,
                409,
                "device_busy",
                "device is busy: its capture hardware is in use and enough captures wait for it",
            ),
            (
                Error::NotCapable("no ADC".into()),
                400,
                "not_capable",
                "no ADC",
            ),
            (
                Error::Invalid(("samples".into(), "must be at most 4194304".into())),
                400,
                "invalid_request",
                "samples must be at most 4194304",
            ),
            (
                Error::Unready(("voltage_mv".into(), "is required".into())),
                409,
                "wrong_state",
                "voltage_mv is required",
            ),
            (
                Error::WrongState("it runs".into()),
                409,
                "wrong_state",
                "it runs",
            ),
            (
                Error::Full("captures: 5 at most".into()),
                409,
                "quota_exceeded",
                "there is no room: captures: 5 at most; remove captures that nobody needs",
            ),
        ] {
            let error = refusal(error, "device", "01X");
            assert_eq!(
                (error.status, error.code, error.message.as_str()),
                (status, code, message)
            );
        }
        let error = refusal(Error::Other("disk".into()), "capture", "01X");
        assert_eq!((error.status, error.cause.as_deref()), (500, Some("disk")));
        assert_eq!(refusal(Error::Busy, "device", "01X").retry_after_s, Some(1));
    }
}
