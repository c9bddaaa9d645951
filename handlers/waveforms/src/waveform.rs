//! What the waveform endpoints share: who may use them, the record, the refusals.

use guest::waveforms::{Error, Kind, Segment, Shape as SegmentShape, Unit, Waveform};
use guest::{ApiError, Credential, Refusal, Request, Response, Shape, Time, codes, text, words};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;

use crate::output::{OUTPUTS, UNITS};

/// The device plane takes every kind of credential.
pub(crate) const CREDENTIALS: &[Credential] = &[
    Credential::ApiKey,
    Credential::UserSession,
    Credential::CloudSession,
];

/// Drive devices.
pub(crate) const SCOPE: Option<&str> = Some("bench:control");

/// Longest name, in characters.
const NAME_CHARS_MAX: usize = 128;

/// Longest segment, in milliseconds.
pub(crate) const DURATION_MS_MAX: f64 = 3_600_000.0;

words! {
    /// Shapes of segments.
    pub(crate) const SHAPES: SegmentShape = { Ramp = "ramp", Hold = "hold", Step = "step" };
}

words! {
    const KINDS: Kind = {
        Codes = "dac_waveform",
        Recording = "recording",
        Segments = "segments",
    };
}

/// The placeholder of the path, and what it is.
pub(crate) const ID: (&str, &str) = ("id", "Waveform id.");

/// Waveform id that the path names.
pub(crate) fn id(request: &Request) -> &str {
    request.param(0)
}

pub(crate) fn name() -> impl Shape<Value = String> {
    text(1..=NAME_CHARS_MAX)
}

/// A waveform that is kept.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Waveform")]
pub(crate) struct Record<'a> {
    id: &'a str,
    name: &'a str,
    #[schemars(extend("enum" = KINDS.all()))]
    kind: &'static str,
    sample_count: u64,
    /// 0: not known. Segments are drawn at it.
    sample_rate_hz: f64,
    /// Of one sample.
    #[schemars(schema_with = "bits")]
    bits: u8,
    /// Level of the highest sample, in `unit`; 0: the samples are plain codes.
    full_scale_v: f64,
    #[schemars(extend("enum" = UNITS.all()))]
    unit: &'static str,
    /// 0 unless it is a recording.
    recording_size_bytes: u64,
    /// Output that segments are meant for, else empty.
    #[schemars(extend("enum" = [OUTPUTS.all(), vec![""]].concat()))]
    dac_path: &'static str,
    segments: Vec<Part>,
    #[schemars(with = "Time")]
    created_at: &'a str,
    /// Standard base64 of the codes, u8 or little-endian u16; only when one `dac_waveform` is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) samples_b64: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Segment")]
struct Part {
    /// `ramp`: from `v_start` to `v_end`; `hold`: `v_start`; `step`: `v_end`.
    #[schemars(extend("enum" = SHAPES.all()))]
    shape: &'static str,
    #[schemars(extend("exclusiveMinimum" = 0), range(max = DURATION_MS_MAX))]
    duration_ms: f64,
    /// Volts; milliamps on `current_out`.
    v_start: f64,
    v_end: f64,
}

fn bits(_: &mut SchemaGenerator) -> Schema {
    codes::Bits.schema()
}

impl<'a> From<&'a Waveform> for Record<'a> {
    fn from(waveform: &'a Waveform) -> Self {
        let is_recording = waveform.kind == Kind::Recording;
        Self {
            id: &waveform.id,
            name: &waveform.name,
            kind: KINDS.word(waveform.kind),
            sample_count: waveform.samples,
            sample_rate_hz: waveform.sample_rate_hz,
            bits: waveform.bits,
            full_scale_v: waveform.full_scale,
            unit: UNITS.word(waveform.unit),
            recording_size_bytes: if is_recording { waveform.size_bytes } else { 0 },
            dac_path: waveform.output.map_or("", |output| OUTPUTS.word(output)),
            segments: waveform.segments.iter().map(Part::from).collect(),
            created_at: &waveform.created_at,
            samples_b64: None,
        }
    }
}

impl From<&Segment> for Part {
    fn from(segment: &Segment) -> Self {
        Self {
            shape: SHAPES.word(segment.shape),
            duration_ms: segment.duration_ms,
            v_start: segment.from_level,
            v_end: segment.to_level,
        }
    }
}

/// A recording, for the documentation.
pub(crate) fn example() -> Record<'static> {
    Record {
        id: "01JGZ5V9T3N8W2K4Q7R6D1M0XD",
        name: "power-up",
        kind: KINDS.word(Kind::Recording),
        sample_count: 2048,
        sample_rate_hz: 100_000.0,
        bits: 16,
        full_scale_v: 3.3,
        unit: UNITS.word(Unit::Volts),
        recording_size_bytes: 4096,
        dac_path: "",
        segments: Vec::new(),
        created_at: "2026-01-02T03:04:05Z",
        samples_b64: None,
    }
}

/// The record as a response.
pub(crate) fn reply(waveform: &Waveform, status: u16) -> Response {
    Response::json(status, &Record::from(waveform))
}

/// `id` is what was asked for, empty when nothing was.
pub(crate) fn refusal(error: Error, id: &str) -> ApiError {
    match error {
        Error::NotFound => ApiError::not_found("waveform", id),
        Error::Full(limit) => {
            ApiError::of(Refusal::QuotaExceeded, format!("there is no room: {limit}"))
        }
        Error::WrongKind(text) => ApiError::of(Refusal::WrongState, text),
        Error::Invalid((field, message)) if field == "body" => {
            ApiError::invalid(format!("the body {message}"))
        }
        Error::Invalid((field, message)) => ApiError::field(field, message),
        Error::Other(cause) => ApiError::internal(cause),
    }
}

#[cfg(test)]
pub(crate) fn kept() -> Waveform {
    Waveform {
        id: "01JGZ5V9T3N8W2K4Q7R6D1M0XD".into(),
        name: "power-up".into(),
        kind: Kind::Recording,
        samples: 2048,
        sample_rate_hz: 100_000.0,
        bits: 16,
        full_scale: 3.3,
        unit: Unit::Volts,
        size_bytes: 4096,
        output: None,
        segments: Vec::new(),
        created_at: "2026-01-02T03:04:05Z".into(),
    }
}

#[cfg(test)]
mod tests {
    use guest::testing::json;
    use guest::waveforms::{Error, Kind, Output, Segment, Shape as SegmentShape, Unit, Waveform};
    use serde_json::json;

    use super::{Record, example, kept, refusal, reply};

    #[test]
    fn a_recording() {
        assert_eq!(
            json(&reply(&kept(), 200)),
            json!({
                "id": "01JGZ5V9T3N8W2K4Q7R6D1M0XD", "name": "power-up", "kind": "recording",
                "sample_count": 2048, "sample_rate_hz": 100_000.0, "bits": 16, "full_scale_v": 3.3,
                "unit": "V", "recording_size_bytes": 4096, "dac_path": "", "segments": [],
                "created_at": "2026-01-02T03:04:05Z"
            })
        );
        assert_eq!(json!(Record::from(&kept())), json!(example()));
    }

    #[test]
    fn segments_and_codes() {
        let drawn = Waveform {
            kind: Kind::Segments,
            unit: Unit::Milliamps,
            output: Some(Output::Current),
            segments: vec![Segment {
                shape: SegmentShape::Ramp,
                duration_ms: 1.5,
                from_level: 4.0,
                to_level: 20.0,
            }],
            ..kept()
        };
        let drawn = json(&reply(&drawn, 200));
        assert_eq!(drawn["kind"], "segments");
        assert_eq!(
            (&drawn["dac_path"], &drawn["unit"]),
            (&json!("current_out"), &json!("mA"))
        );
        let segment = json!({"shape": "ramp", "duration_ms": 1.5, "v_start": 4.0, "v_end": 20.0});
        assert_eq!(drawn["segments"], json!([segment]));
        let codes = Waveform {
            kind: Kind::Codes,
            ..kept()
        };
        assert_eq!(json(&reply(&codes, 200))["kind"], "dac_waveform");
    }

    #[test]
    fn refusals() {
        let bad = || ("name".to_owned(), "must be short".to_owned());
        for (error, status, code) in [
            (Error::NotFound, 404, "not_found"),
            (Error::Full("waveforms: 1".into()), 409, "quota_exceeded"),
            (Error::WrongKind("no recording".into()), 409, "wrong_state"),
            (Error::Invalid(bad()), 400, "invalid_request"),
            (Error::Other("disk".into()), 500, "internal"),
        ] {
            let error = refusal(error, "w");
            assert_eq!((error.status, error.code), (status, code));
        }
        let body = refusal(Error::Invalid(("body".into(), "must be more".into())), "");
        assert_eq!(
            (body.status, body.message.as_str()),
            (400, "the body must be more")
        );
    }
}
