//! `GET /bench/waveforms/{id}/recording`: the samples of a recording, as they were kept.

use guest::{ApiError, Body, Request, Response, Route, waveforms};

use crate::waveform;

pub(crate) const ROUTE: Route = Route {
    name: "waveforms.recording",
    method: "GET",
    pattern: "/bench/waveforms/{id}/recording",
    credentials: waveform::CREDENTIALS,
    scope: waveform::SCOPE,
    body_limit: 0,
    summary: "Download the samples of a recording",
    openapi: guest::compact_json!(
        r#"{"refusals":["wrong_state"],"parameters":["#,
        include_str!("id.parameter.json"),
        r#"],"responses":{"200":{"description":"Unsigned 16-bit samples, little-endian: `level = sample / 65535 * full_scale_v`.","content":{"application/octet-stream":{"schema":{"type":"string","contentMediaType":"application/octet-stream"},"example":"AAAA"}}}}}"#,
    ),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = waveform::id(request);
    let stream = waveforms::read(id).map_err(|error| waveform::refusal(error, id))?;
    let media_type = "application/octet-stream".to_owned();
    Ok(Response {
        status: 200,
        headers: vec![("content-type".to_owned(), media_type)],
        body: Body::Stream(stream),
    })
}
