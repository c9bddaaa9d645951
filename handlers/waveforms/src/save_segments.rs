//! `POST /bench/waveforms/segments`: keep a waveform of ramps, holds and steps.

use guest::waveforms::{self, Output, Segment};
use guest::{ApiError, Fields, JSON_BODY_BYTES_MAX, Request, Response, Route, Shape, choice, list};
use schemars::{Schema, json_schema};
use serde_json::Value;

use crate::{output, waveform};

/// Most segments of a waveform.
const SEGMENTS_MAX: usize = 256;

/// Longest segment, in milliseconds.
const DURATION_MS_MAX: f64 = 3_600_000.0;

/// Highest level that makes sense as a number, either way. What an output reaches, the host knows.
const LEVEL_MAX: f64 = 1000.0;

pub(crate) const ROUTE: Route = Route {
    name: "waveforms.save_segments",
    method: "POST",
    pattern: "/bench/waveforms/segments",
    credentials: waveform::CREDENTIALS,
    scope: waveform::SCOPE,
    body_limit: JSON_BODY_BYTES_MAX,
    summary: "Keep a waveform of segments",
    openapi: guest::compact_json!(
        r#"{"requestBody":"#,
        include_str!("save_segments.body.json"),
        r#","responses":"#,
        include_str!("saved.responses.json"),
        "}",
    ),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let (name, output, segments) = parse(request)?;
    waveforms::save_segments(&name, output, &segments)
        .map(|saved| waveform::reply(&saved, 201))
        .map_err(|error| waveform::refusal(error, ""))
}

fn parse(request: &Request) -> Result<(String, Output, Vec<Segment>), ApiError> {
    let mut body = request.json()?;
    let name = body.required("name", waveform::name());
    let output = body.required("dac_path", choice(output::OUTPUTS));
    let segments = body.required("segments", list(OneSegment, 1..=SEGMENTS_MAX));
    body.finish()?;
    Ok((name, output, segments))
}

/// `{shape, duration_ms, v_start, v_end?}`; without an end, it is the start.
struct OneSegment;

impl Shape for OneSegment {
    type Value = Segment;

    fn read(&self, value: &Value) -> Result<Segment, String> {
        if !value.is_object() {
            return Err("must be an object".to_owned());
        }
        let text = value.to_string();
        let read = Fields::parse(text.as_bytes()).and_then(|mut fields| {
            let from_level = fields.required("v_start", level());
            let segment = Segment {
                shape: fields.required("shape", choice(waveform::SHAPES)),
                duration_ms: fields.required("duration_ms", guest::number(0.0, DURATION_MS_MAX)),
                from_level,
                to_level: fields.or("v_end", level(), from_level),
            };
            fields.finish().map(|()| segment)
        });
        read.map_err(|error| {
            let first = error.fields.into_iter().next();
            first.map_or(error.message, |p| {
                format!("has a wrong {}: {}", p.field, p.message)
            })
        })
    }

    fn schema(&self) -> Schema {
        json_schema!({
            "type": "object",
            "required": ["shape", "duration_ms", "v_start"],
            "additionalProperties": false,
            "properties": {
                "shape": choice(waveform::SHAPES).schema(),
                "duration_ms": guest::number(0.0, DURATION_MS_MAX).schema(),
                "v_start": level().schema(),
                "v_end": level().schema()
            }
        })
    }

    fn placeholder(&self) -> Segment {
        Segment {
            shape: waveforms::Shape::Hold,
            duration_ms: 1.0,
            from_level: 0.0,
            to_level: 0.0,
        }
    }
}

fn level() -> impl Shape<Value = f64> {
    guest::number(-LEVEL_MAX, LEVEL_MAX)
}

#[cfg(test)]
mod tests {
    use guest::testing::{mutations, request};
    use guest::waveforms::{Output, Shape};

    use super::parse;

    #[test]
    fn bodies() {
        let (name, output, segments) = parse(&request(
            r#"{"name":"n","dac_path":"12v","segments":[
                {"shape":"ramp","duration_ms":2.5,"v_start":-12,"v_end":12},
                {"shape":"hold","duration_ms":1,"v_start":3}]}"#,
        ))
        .unwrap();
        assert_eq!((name.as_str(), output), ("n", Output::V12));
        assert_eq!(
            (segments[0].shape, segments[1].shape),
            (Shape::Ramp, Shape::Hold)
        );
        assert!((segments[0].from_level + 12.0).abs() < 1e-9);
        assert!((segments[1].to_level - 3.0).abs() < 1e-9);
    }

    #[test]
    fn problems_are_told_by_item() {
        for (segments, told) in [
            ("[]", "must have 1..=256 items"),
            ("[1]", "item 0 must be an object"),
            (
                r#"[{"shape":"hold","duration_ms":1,"v_start":0},{"shape":"up","duration_ms":1,"v_start":0}]"#,
                "item 1 has a wrong shape: must be one of ramp, hold, step",
            ),
            (
                r#"[{"shape":"hold","duration_ms":0,"v_start":0}]"#,
                "item 0 has a wrong duration_ms",
            ),
            (
                r#"[{"shape":"hold","duration_ms":1,"v_start":0,"level":1}]"#,
                "item 0 has a wrong level: is not known here",
            ),
        ] {
            let body = format!(r#"{{"name":"n","dac_path":"5v","segments":{segments}}}"#);
            let error = parse(&request(&body)).unwrap_err();
            assert!(
                error.fields[0].message.starts_with(told),
                "{:?}",
                error.fields
            );
        }
    }

    #[test]
    fn mutated_bodies_never_panic() {
        let valid = br#"{"name":"n","dac_path":"3v3","segments":[
            {"shape":"step","duration_ms":2.5,"v_start":1,"v_end":2}]}"#;
        mutations(0x5E61, valid, 10_000, |body| {
            let mut request = request("");
            request.body = body.to_vec();
            if let Ok((_, _, segments)) = parse(&request) {
                assert!(segments.iter().all(|s| s.duration_ms > 0.0));
            }
        });
    }
}
