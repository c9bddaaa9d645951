//! `GET /bench/waveforms/{id}/preview`: what an output would put out.

use guest::waveforms::{self, Mapping, Output, Previewed};
use guest::{ApiError, Openapi, Request, Response, Route, integer, members};
use schemars::JsonSchema;
use serde::Serialize;

use crate::output::{MAPPINGS, OUTPUTS, UNITS};
use crate::waveform;

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
    openapi: Openapi::of(|operation| {
        let example = Preview {
            id: "01JGZ5V9T3N8W2K4Q7R6D1M0XD",
            dac_path: "3v3",
            mapping: "faithful",
            unit: "V",
            low: 0.0,
            high: 3.3,
            sample_rate_hz: 100_000.0,
            averaged: 1,
            samples: 3,
            codes: &[0, 32_768, 65_535],
        };
        operation
            .path(waveform::ID.0, waveform::ID.1)
            .query::<Asked>()
            .reply(200, "What the output would put out.", &example);
    }),
    handle,
};

members! {
    #[derive(Debug, PartialEq)]
    struct Asked {
        /// `faithful`: each level as it is, as far as the output reaches; `fit`: the lowest level at the
        /// output's low end, the highest at its high end.
        mapping: Mapping = or(MAPPINGS.shape(), Mapping::Faithful),
        /// The output.
        dac_path: Output = or(OUTPUTS.shape(), Output::V3),
        /// Most codes; more samples are averaged in blocks.
        points: u32 = or(integer(1..=POINTS_MAX), POINTS_DEFAULT),
    }
}

#[derive(Serialize, JsonSchema)]
struct Preview<'a> {
    id: &'a str,
    #[schemars(extend("enum" = OUTPUTS.all()))]
    dac_path: &'static str,
    #[schemars(extend("enum" = MAPPINGS.all()))]
    mapping: &'static str,
    #[schemars(extend("enum" = UNITS.all()))]
    unit: &'static str,
    /// Level of code 0, in `unit`. The 4-20 mA output of a pod differs a little from 4 and 20.
    low: f64,
    /// Level of code 65535.
    high: f64,
    /// Of the codes; 0: not known.
    sample_rate_hz: f64,
    /// Samples that each code is the mean of.
    averaged: u64,
    /// How many codes there are.
    samples: usize,
    codes: &'a [u16],
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let asked = parse(request)?;
    let id = waveform::id(request);
    waveforms::preview(id, asked.mapping, asked.dac_path, asked.points)
        .map(|preview| reply(id, &asked, &preview))
        .map_err(|error| waveform::refusal(error, id))
}

fn parse(request: &Request) -> Result<Asked, ApiError> {
    request.query()?.read()
}

fn reply(id: &str, asked: &Asked, preview: &Previewed) -> Response {
    let preview = Preview {
        id,
        dac_path: OUTPUTS.word(asked.dac_path),
        mapping: MAPPINGS.word(asked.mapping),
        unit: UNITS.word(preview.unit),
        low: preview.low,
        high: preview.high,
        sample_rate_hz: preview.sample_rate_hz,
        averaged: preview.averaged,
        samples: preview.codes.len(),
        codes: &preview.codes,
    };
    Response::json(200, &preview)
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
            dac_path: Output::V3,
            points: 4096,
        };
        assert_eq!(parse(&get(&[], "")).unwrap(), plain);
        let asked = parse(&get(&[], "mapping=fit&dac_path=current_out&points=2")).unwrap();
        let wanted = Asked {
            mapping: Mapping::Fit,
            dac_path: Output::Current,
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
