//! What the waveform endpoints share: who may use them, the record, the refusals.

use guest::waveforms::{Error, Kind, Segment, Shape as SegmentShape, Waveform};
use guest::{ApiError, Credential, Object, Request, Response, Shape, text};

use crate::output;

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

/// Highest rate that makes sense as a number, in Hz.
const RATE_HZ_MAX: f64 = 1e9;

/// Highest full scale that makes sense as a number, in volts or milliamps.
const FULL_SCALE_MAX: f64 = 1e6;

/// Words for the shapes of segments.
pub(crate) const SHAPES: &[(&str, SegmentShape)] = &[
    ("ramp", SegmentShape::Ramp),
    ("hold", SegmentShape::Hold),
    ("step", SegmentShape::Step),
];

/// Waveform id that the path names.
pub(crate) fn id(request: &Request) -> &str {
    request.param(0)
}

pub(crate) fn name() -> impl Shape<Value = String> {
    text(1..=NAME_CHARS_MAX)
}

/// A sample rate in hertz.
pub(crate) fn rate_hz() -> impl Shape<Value = f64> {
    guest::number(0.0, RATE_HZ_MAX)
}

pub(crate) fn full_scale() -> impl Shape<Value = f64> {
    guest::number(0.0, FULL_SCALE_MAX)
}

/// Write the record of a waveform.
pub(crate) fn record(waveform: &Waveform, object: &mut Object) {
    let (kind, size_bytes) = match waveform.kind {
        Kind::Codes => ("dac_waveform", 0),
        Kind::Recording => ("recording", waveform.size_bytes),
        Kind::Segments => ("segments", 0),
    };
    object
        .field("id", &waveform.id)
        .field("name", &waveform.name)
        .field("kind", kind)
        .field("sample_count", &waveform.samples)
        .field("sample_rate_hz", &waveform.sample_rate_hz)
        .field("bits", &waveform.bits)
        .field("full_scale_v", &waveform.full_scale)
        .field("unit", output::unit(waveform.unit))
        .field("recording_size_bytes", &size_bytes)
        .field("dac_path", waveform.output.map_or("", output::name))
        .array("segments", &waveform.segments, segment)
        .field("created_at", &waveform.created_at);
}

fn segment(segment: &Segment, object: &mut Object) {
    let named = SHAPES.iter().find(|(_, shape)| *shape == segment.shape);
    let (shape, _) = named.expect("every shape has a word");
    object
        .field("shape", *shape)
        .field("duration_ms", &segment.duration_ms)
        .field("v_start", &segment.from_level)
        .field("v_end", &segment.to_level);
}

/// The record as a response.
pub(crate) fn reply(waveform: &Waveform, status: u16) -> Response {
    let mut body = Object::new();
    record(waveform, &mut body);
    body.reply(status)
}

/// `id` is what was asked for, empty when nothing was.
pub(crate) fn refusal(error: Error, id: &str) -> ApiError {
    match error {
        Error::NotFound => ApiError::not_found("waveform", id),
        Error::Full(limit) => {
            ApiError::new(409, "quota_exceeded", format!("there is no room: {limit}"))
        }
        Error::WrongKind(text) => ApiError::new(409, "wrong_state", text),
        Error::Invalid((field, message)) if field == "body" => {
            ApiError::invalid(format!("the body {message}"))
        }
        Error::Invalid((field, message)) => ApiError::field(field, message),
        Error::Other(cause) => ApiError::internal(cause),
    }
}

#[cfg(test)]
pub(crate) fn example() -> Waveform {
    Waveform {
        id: "01JGZ5V9T3N8W2K4Q7R6D1M0XD".into(),
        name: "power-up".into(),
        kind: Kind::Recording,
        samples: 2048,
        sample_rate_hz: 100_000.0,
        bits: 16,
        full_scale: 3.3,
        unit: guest::waveforms::Unit::Volts,
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
    use serde_json::{Value, json};

    use super::{example, refusal, reply};

    #[test]
    fn the_record_is_the_documented_example() {
        let expected: Value = serde_json::from_str(include_str!("waveform.example.json")).unwrap();
        assert_eq!(json(&reply(&example(), 200)), expected);
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
            ..example()
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
            ..example()
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
