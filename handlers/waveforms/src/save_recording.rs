//! `POST /bench/waveforms/recording`: keep samples of a capture. Their bytes go from the connection
//! to disk without passing through here.

use guest::codes::{self, SAMPLES_MAX};
use guest::waveforms::{self, Unit};
use guest::{
    ApiError, Openapi, Request, Response, Route, form, integer, members, streamed, uploads,
};
use schemars::json_schema;
use serde_json::json;

use crate::output::UNITS;
use crate::recording::MEDIA_TYPE;
use crate::waveform;

/// More than any configuration allows.
const BYTES_MAX: u32 = 256 << 20;

pub(crate) const ROUTE: Route = Route {
    name: "waveforms.save_recording",
    method: "POST",
    pattern: "/bench/waveforms/recording",
    credentials: waveform::CREDENTIALS,
    scope: waveform::SCOPE,
    body_limit: streamed(BYTES_MAX),
    summary: "Keep a recording",
    openapi: Openapi::of(|operation| {
        let samples = json_schema!({
            "type": "string",
            "contentMediaType": MEDIA_TYPE,
            "description": "One or more unsigned 16-bit samples, little-endian."
        });
        operation
            .query::<Told>()
            .content(MEDIA_TYPE, samples, json!("AAAA"))
            .reply(201, "Kept.", &waveform::example());
    }),
    handle,
};

members! {
    #[derive(Debug)]
    struct Told {
        /// Free text for lists.
        name: String = required(waveform::name()),
        /// Samples per second.
        sample_rate_hz: f64 = required(codes::rate_hz()),
        /// Level of the sample 65535, in `unit`; 0 is 0.
        full_scale_v: f64 = required(codes::full_scale()),
        /// What the samples are counted in.
        unit: Unit = or(UNITS.shape(), Unit::Volts),
        /// How many samples come; checked when it is given.
        sample_count: Option<u64> = optional(integer(1..=SAMPLES_MAX)),
    }
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let told = parse(request)?;
    let refused = |error| waveform::refusal(error, "");
    let room = waveforms::room().map_err(refused)?;
    let file = uploads::receive(room).map_err(form::refusal)?;
    waveforms::save_recording(
        &told.name,
        file,
        told.sample_rate_hz,
        told.full_scale_v,
        told.unit,
        told.sample_count,
    )
    .map(|saved| waveform::reply(&saved, 201))
    .map_err(refused)
}

fn parse(request: &Request) -> Result<Told, ApiError> {
    request.query()?.read()
}

#[cfg(test)]
mod tests {
    use guest::testing::get;
    use guest::waveforms::Unit;

    use super::parse;

    #[test]
    fn the_query_tells_what_the_samples_are() {
        let query = "name=a+b&sample_rate_hz=100000.0&full_scale_v=3.25&sample_count=4&unit=mA";
        let told = parse(&get(&[], query)).unwrap();
        assert_eq!((told.name.as_str(), told.unit), ("a b", Unit::Milliamps));
        assert!(
            (told.sample_rate_hz - 1e5).abs() < 1e-9 && (told.full_scale_v - 3.25).abs() < 1e-9
        );
        assert_eq!(told.sample_count, Some(4));
        for query in [
            "",
            "name=a&sample_rate_hz=nan&full_scale_v=1",
            "name=a&sample_rate_hz=1&full_scale_v=inf",
            "name=a&sample_rate_hz=1&full_scale_v=0",
            "name=a&sample_rate_hz=1&full_scale_v=1&unit=A",
            "name=a&sample_rate_hz=1&full_scale_v=1&bits=16",
            "name=a&sample_rate_hz=-1&full_scale_v=1",
            "name=a&sample_rate_hz=0&full_scale_v=1",
        ] {
            assert_eq!(parse(&get(&[], query)).unwrap_err().status, 400, "{query}");
        }
    }
}
