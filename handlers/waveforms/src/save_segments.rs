//! `POST /bench/waveforms/segments`: keep a waveform of ramps, holds and steps.

use guest::waveforms::{self, Output, Segment, Shape as SegmentShape};
use guest::{
    ApiError, JSON_BODY_BYTES_MAX, Openapi, Request, Response, Route, Shape, list, members, nested,
    number,
};
use serde_json::json;

use crate::output::OUTPUTS;
use crate::waveform::{self, DURATION_MS_MAX, SHAPES};

/// Most segments of a waveform.
const SEGMENTS_MAX: usize = 256;

/// Highest level that makes sense as a number, either way. The host knows what an output reaches.
const LEVEL_MAX: f64 = 1000.0;

pub(crate) const ROUTE: Route = Route {
    name: "waveforms.save_segments",
    method: "POST",
    pattern: "/bench/waveforms/segments",
    credentials: waveform::CREDENTIALS,
    scope: waveform::SCOPE,
    body_limit: JSON_BODY_BYTES_MAX,
    summary: "Keep a waveform of segments",
    openapi: Openapi::of(|operation| {
        operation
            .body::<Drawn>(json!({
                "name": "brown-out",
                "dac_path": "3v3",
                "segments": [
                    {"shape": "hold", "duration_ms": 10, "v_start": 3.3},
                    {"shape": "ramp", "duration_ms": 5, "v_start": 3.3, "v_end": 1.8}
                ]
            }))
            .reply(201, "Kept.", &waveform::example());
    }),
    handle,
};

members! {
    #[derive(Debug)]
    struct Drawn {
        name: String = required(waveform::name()),
        dac_path: Output = required(OUTPUTS.shape()),
        /// At most an hour together.
        segments: Vec<Part> = required(list(nested(), 1..=SEGMENTS_MAX)),
    }
}

members! {
    #[derive(Debug)]
    struct Part {
        /// `ramp`: from `v_start` to `v_end`; `hold`: `v_start`; `step`: `v_end`.
        shape: SegmentShape = required(SHAPES.shape()),
        duration_ms: f64 = required(number(0.0, DURATION_MS_MAX)),
        /// Volts; milliamps on `current_out`. Within what the output reaches.
        v_start: f64 = required(level()),
        /// `v_start` when it is left out.
        v_end: Option<f64> = optional(level()),
    }
}

fn level() -> impl Shape<Value = f64> {
    number(-LEVEL_MAX, LEVEL_MAX)
}

impl From<Part> for Segment {
    fn from(part: Part) -> Self {
        Self {
            shape: part.shape,
            duration_ms: part.duration_ms,
            from_level: part.v_start,
            to_level: part.v_end.unwrap_or(part.v_start),
        }
    }
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let (name, output, segments) = parse(request)?;
    waveforms::save_segments(&name, output, &segments)
        .map(|saved| waveform::reply(&saved, 201))
        .map_err(|error| waveform::refusal(error, ""))
}

fn parse(request: &Request) -> Result<(String, Output, Vec<Segment>), ApiError> {
    let drawn: Drawn = request.json()?.read()?;
    let segments = drawn.segments.into_iter().map(Segment::from).collect();
    Ok((drawn.name, drawn.dac_path, segments))
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
