//! `POST /bench/waveforms/recording`: keep samples of a capture. Their bytes go from the connection
//! to disk without passing here.

use guest::waveforms::{self, Unit};
use guest::{ApiError, Request, Response, Route, choice, form, integer, streamed, uploads};

use crate::{output, waveform};

/// More than any configuration allows.
const BYTES_MAX: u32 = 256 << 20;

/// More samples than any recording has.
const SAMPLES_MAX: u64 = 1 << 40;

pub(crate) const ROUTE: Route = Route {
    name: "waveforms.save_recording",
    method: "POST",
    pattern: "/bench/waveforms/recording",
    credentials: waveform::CREDENTIALS,
    scope: waveform::SCOPE,
    body_limit: streamed(BYTES_MAX),
    summary: "Keep a recording",
    openapi: guest::compact_json!(
        r#"{"parameters":"#,
        include_str!("save_recording.parameters.json"),
        r#","requestBody":{"required":true,"content":{"application/octet-stream":{"schema":{"type":"string","contentMediaType":"application/octet-stream","description":"One or more unsigned 16-bit samples, little-endian."},"example":"AAAA"}}},"responses":"#,
        include_str!("saved.responses.json"),
        "}",
    ),
    handle,
};

#[derive(Debug, PartialEq)]
struct Told {
    name: String,
    sample_rate_hz: f64,
    full_scale: f64,
    unit: Unit,
    samples: Option<u64>,
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
        told.full_scale,
        told.unit,
        told.samples,
    )
    .map(|saved| waveform::reply(&saved, 201))
    .map_err(refused)
}

fn parse(request: &Request) -> Result<Told, ApiError> {
    let mut query = request.query()?;
    let told = Told {
        name: query.required("name", waveform::name()),
        sample_rate_hz: query.required("sample_rate_hz", waveform::rate_hz()),
        full_scale: query.required("full_scale_v", waveform::full_scale()),
        unit: query.or("unit", choice(output::UNITS), Unit::Volts),
        samples: query.optional("sample_count", integer(1..=SAMPLES_MAX)),
    };
    query.finish()?;
    Ok(told)
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
        assert!((told.sample_rate_hz - 1e5).abs() < 1e-9 && (told.full_scale - 3.25).abs() < 1e-9);
        assert_eq!(told.samples, Some(4));
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
