//! `POST /bench/waveforms`: keep codes that somebody wrote.

use guest::codes::{self, BITS_DEFAULT, Bits};
use guest::{ApiError, JSON_BODY_BYTES_MAX, Openapi, Request, Response, Route, members, waveforms};
use serde_json::json;

use crate::waveform;

pub(crate) const ROUTE: Route = Route {
    name: "waveforms.save_codes",
    method: "POST",
    pattern: "/bench/waveforms",
    credentials: waveform::CREDENTIALS,
    scope: waveform::SCOPE,
    body_limit: JSON_BODY_BYTES_MAX,
    summary: "Keep a waveform of DAC codes",
    openapi: Openapi::of(|operation| {
        operation
            .body::<Codes>(json!({
                "name": "stairs",
                "samples_b64": "AECAwA==",
                "sample_rate_hz": 1000.0,
                "bits": 8
            }))
            .reply(201, "Kept.", &waveform::example());
    }),
    handle,
};

members! {
    #[derive(Debug, PartialEq)]
    struct Codes {
        name: String = required(waveform::name()),
        /// Standard base64 of one or more codes, u8 or little-endian u16 as `bits` says.
        samples_b64: String = required(codes::samples_b64()),
        /// Samples per second.
        sample_rate_hz: f64 = required(codes::rate_hz()),
        /// Of one code.
        bits: Option<u8> = or(Bits, None),
        /// Volts of the highest code, 0 V being code 0. Without it the codes are the output's own and are
        /// played as they are, 8-bit ones widened.
        full_scale_v: Option<f64> = optional(codes::full_scale()),
    }
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let given = parse(request)?;
    waveforms::save_codes(
        &given.name,
        &given.samples_b64,
        given.bits.unwrap_or(BITS_DEFAULT),
        given.sample_rate_hz,
        given.full_scale_v,
    )
    .map(|saved| waveform::reply(&saved, 201))
    .map_err(|error| waveform::refusal(error, ""))
}

fn parse(request: &Request) -> Result<Codes, ApiError> {
    request.json()?.read()
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
            bits: None,
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
                assert!(codes.sample_rate_hz > 0.0 && matches!(codes.bits, None | Some(8 | 16)));
            }
        });
    }
}
