//! `GET /bench/waveforms/{id}`: one waveform; the samples of codes come with it.

use guest::waveforms::{self, Kind};
use guest::{ApiError, Object, Request, Response, Route};

use crate::waveform;

pub(crate) const ROUTE: Route = Route {
    name: "waveforms.get",
    method: "GET",
    pattern: "/bench/waveforms/{id}",
    credentials: waveform::CREDENTIALS,
    scope: waveform::SCOPE,
    body_limit: 0,
    summary: "One waveform",
    openapi: guest::compact_json!(
        r#"{"parameters":["#,
        include_str!("id.parameter.json"),
        r#"],"responses":{"200":{"description":"The waveform; a `dac_waveform` with `samples_b64`.","content":{"application/json":{"schema":"#,
        include_str!("waveform.schema.json"),
        r#","example":"#,
        include_str!("waveform.example.json"),
        "}}}}}",
    ),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = waveform::id(request);
    let refused = |error| waveform::refusal(error, id);
    let found = waveforms::get(id).map_err(refused)?;
    let mut body = Object::new();
    waveform::record(&found, &mut body);
    if found.kind == Kind::Codes {
        let samples = waveforms::samples_b64(id).map_err(refused)?;
        body.plain_text("samples_b64", |bytes| {
            bytes.extend_from_slice(samples.as_bytes())
        });
    }
    Ok(body.reply(200))
}
