//! `POST /bench/waveforms`: keep codes that somebody wrote.

use guest::{ApiError, JSON_BODY_BYTES_MAX, Request, Response, Route, integer, text, waveforms};

use crate::waveform;

/// Longest text of samples, in characters: what fits a body.
pub(crate) const SAMPLES_CHARS_MAX: usize = JSON_BODY_BYTES_MAX as usize;

pub(crate) const ROUTE: Route = Route {
    name: "waveforms.save_codes",
    method: "POST",
    pattern: "/bench/waveforms",
    credentials: waveform::CREDENTIALS,
    scope: waveform::SCOPE,
    body_limit: JSON_BODY_BYTES_MAX,
    summary: "Keep a waveform of DAC codes",
    openapi: guest::compact_json!(
        r#"{"requestBody":"#,
        include_str!("save_codes.body.json"),
        r#","responses":"#,
        include_str!("saved.responses.json"),
        "}",
    ),
    handle,
};

#[derive(Debug, PartialEq)]
struct Codes {
    name: String,
    samples_b64: String,
    sample_rate_hz: f64,
    bits: u8,
    full_scale_v: Option<f64>,
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let codes = parse(request)?;
    waveforms::save_codes(
        &codes.name,
        &codes.samples_b64,
        codes.bits,
        codes.sample_rate_hz,
        codes.full_scale_v,
    )
    .map(|saved| waveform::reply(&saved, 201))
    .map_err(|error| waveform::refusal(error, ""))
}

fn parse(request: &Request) -> Result<Codes, ApiError> {
    let mut body = request.json()?;
    let codes = Codes {
        name: body.required("name", waveform::name()),
        samples_b64: body.required("samples_b64", text(1..=SAMPLES_CHARS_MAX)),
        sample_rate_hz: body.required("sample_rate_hz", waveform::rate_hz()),
        bits: bits(&mut body),
        full_scale_v: body.optional("full_scale_v", waveform::full_scale()),
    };
    body.finish()?;
    Ok(codes)
}

/// Width of a code; 8 when it is not said.
pub(crate) fn bits(body: &mut guest::Fields) -> u8 {
    let bits = body.or("bits", integer(1..=64u8), 8);
    if !matches!(bits, 8 | 16) {
        body.problem("bits", "must be 8 or 16");
    }
    bits
}

#[cfg(test)]
mod tests {
    use guest::testing::{mutations, request};

    use super::{Codes, parse};

    #[test]
    fn bodies() {
        let codes = parse(&request(
            r#"{"name":"n","samples_b64":"AP8=","sample_rate_hz":100,"full_scale_v":null}"#,
        ));
        let wanted = Codes {
            name: "n".into(),
            samples_b64: "AP8=".into(),
            sample_rate_hz: 100.0,
            bits: 8,
            full_scale_v: None,
        };
        assert_eq!(codes.unwrap(), wanted);
        for (members, field) in [
            (r#""name":"""#, "name"),
            (r#""name":"n","bits":12"#, "bits"),
            (r#""name":"n","full_scale_v":0"#, "full_scale_v"),
            (r#""name":"n","kind":"recording""#, "kind"),
        ] {
            let body = format!(r#"{{"samples_b64":"AA==","sample_rate_hz":1,{members}}}"#);
            let error = parse(&request(&body)).unwrap_err();
            assert_eq!((error.status, error.fields[0].field.as_str()), (400, field));
        }
        for rate in ["-1", "0", "1e10"] {
            let body = format!(r#"{{"name":"n","sample_rate_hz":{rate}}}"#);
            assert_eq!(
                parse(&request(&body)).unwrap_err().fields.len(),
                2,
                "{rate}"
            );
        }
    }

    #[test]
    fn mutated_bodies_never_panic() {
        let valid = br#"{"name":"n","samples_b64":"AP8=","sample_rate_hz":100.5,"bits":16}"#;
        mutations(0x0DA6, valid, 10_000, |body| {
            let mut request = request("");
            request.body = body.to_vec();
            if let Ok(codes) = parse(&request) {
                assert!(codes.sample_rate_hz > 0.0 && matches!(codes.bits, 8 | 16));
            }
        });
    }
}
