//! `GET /bench/waveforms/{id}/recording`: the samples of a recording, as they were kept.

use guest::{ApiError, Body, Openapi, Refusal, Request, Response, Route, waveforms};
use serde_json::json;

use crate::waveform;

/// Media type of samples, in requests and answers.
pub(crate) const MEDIA_TYPE: &str = "application/octet-stream";

pub(crate) const ROUTE: Route = Route {
    name: "waveforms.recording",
    method: "GET",
    pattern: "/bench/waveforms/{id}/recording",
    credentials: waveform::CREDENTIALS,
    scope: waveform::SCOPE,
    body_limit: 0,
    summary: "Download the samples of a recording",
    openapi: Openapi::of(|operation| {
        operation
            .refusals(&[Refusal::WrongState])
            .path(waveform::ID.0, waveform::ID.1)
            .reply_content(
                200,
                "Unsigned 16-bit samples, little-endian: `level = sample / 65535 * full_scale_v`.",
                MEDIA_TYPE,
                json!({"type": "string", "contentMediaType": MEDIA_TYPE}),
                json!("AAAA"),
            );
    }),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = waveform::id(request);
    let stream = waveforms::read(id).map_err(|error| waveform::refusal(error, id))?;
    Ok(Response {
        status: 200,
        headers: vec![("content-type".to_owned(), MEDIA_TYPE.to_owned())],
        body: Body::Stream(stream),
    })
}
