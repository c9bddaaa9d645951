//! `GET /bench/waveforms/{id}/preview`: what an output would put out.

use guest::waveforms::{self, Mapping, Output, Previewed};
use guest::{ApiError, Object, Request, Response, Route, choice, integer};

use crate::{output, waveform};

/// Most points of a preview.
const POINTS_MAX: u32 = 65_536;

/// Points of a preview when the caller does not say.
const POINTS_DEFAULT: u32 = 4096;

pub(crate) const ROUTE: Route = Route {
    name: "waveforms.preview",
    method: "GET",
    pattern: "/bench/waveforms/{id}/preview",
    credentials: waveform::CREDENTIALS,
    scope: waveform::SCOPE,
    body_limit: 0,
    summary: "Previewed a waveform on an output",
    openapi: guest::compact_json!(include_str!("preview.json")),
    handle,
};

#[derive(Debug, PartialEq)]
struct Asked {
    mapping: Mapping,
    output: Output,
    points: u32,
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let asked = parse(request)?;
    let id = waveform::id(request);
    waveforms::preview(id, asked.mapping, asked.output, asked.points)
        .map(|preview| reply(id, &asked, &preview))
        .map_err(|error| waveform::refusal(error, id))
}

fn parse(request: &Request) -> Result<Asked, ApiError> {
    let mut query = request.query()?;
    let asked = Asked {
        mapping: query.or("mapping", choice(output::MAPPINGS), Mapping::Faithful),
        output: query.or("dac_path", choice(output::OUTPUTS), Output::V3),
        points: query.or("points", integer(1..=POINTS_MAX), POINTS_DEFAULT),
    };
    query.finish()?;
    Ok(asked)
}

fn reply(id: &str, asked: &Asked, preview: &Previewed) -> Response {
    let mut body = Object::new();
    body.field("id", id)
        .field("dac_path", output::name(asked.output))
        .field("mapping", output::mapping(asked.mapping))
        .field("unit", output::unit(preview.unit))
        .field("low", &preview.low)
        .field("high", &preview.high)
        .field("sample_rate_hz", &preview.sample_rate_hz)
        .field("averaged", &preview.averaged)
        .field("samples", &preview.codes.len())
        .field("codes", &preview.codes);
    body.reply(200)
}

#[cfg(test)]
mod tests {
    use guest::testing::{get, json};
    use guest::waveforms::{Mapping, Output, Previewed, Unit};
    use serde_json::json;

    use super::{Asked, parse, reply};

    #[test]
    fn query() {
        let plain = Asked {
            mapping: Mapping::Faithful,
            output: Output::V3,
            points: 4096,
        };
        assert_eq!(parse(&get(&[], "")).unwrap(), plain);
        let asked = parse(&get(&[], "mapping=fit&dac_path=current_out&points=2")).unwrap();
        let wanted = Asked {
            mapping: Mapping::Fit,
            output: Output::Current,
            points: 2,
        };
        assert_eq!(asked, wanted);
        for query in [
            "mapping=loose",
            "dac_path=",
            "points=0",
            "points=65537",
            "x=1",
        ] {
            assert_eq!(parse(&get(&[], query)).unwrap_err().status, 400, "{query}");
        }
    }

    #[test]
    fn the_reply_is_complete() {
        let asked = parse(&get(&[], "dac_path=5v")).unwrap();
        let preview = Previewed {
            codes: vec![0, 65_535],
            low: 0.0,
            high: 5.0,
            unit: Unit::Volts,
            sample_rate_hz: 100.0,
            averaged: 3,
        };
        let expected = json!({"id": "w", "dac_path": "5v", "mapping": "faithful", "unit": "V",
            "low": 0.0, "high": 5.0, "sample_rate_hz": 100.0, "averaged": 3, "samples": 2,
            "codes": [0, 65535]});
        assert_eq!(json(&reply("w", &asked, &preview)), expected);
    }
}
