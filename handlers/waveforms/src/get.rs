//! `GET /bench/waveforms/{id}`: one waveform; the samples of codes come with it.

use guest::waveforms::{self, Kind};
use guest::{ApiError, Openapi, Request, Response, Route};

use crate::waveform::{self, Record};

pub(crate) const ROUTE: Route = Route {
    name: "waveforms.get",
    method: "GET",
    pattern: "/bench/waveforms/{id}",
    credentials: waveform::CREDENTIALS,
    scope: waveform::SCOPE,
    body_limit: 0,
    summary: "One waveform",
    openapi: Openapi::of(|operation| {
        operation.path(waveform::ID.0, waveform::ID.1).reply(
            200,
            "The waveform; a `dac_waveform` with `samples_b64`.",
            &waveform::example(),
        );
    }),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = waveform::id(request);
    let refused = |error| waveform::refusal(error, id);
    let found = waveforms::get(id).map_err(refused)?;
    let mut record = Record::from(&found);
    if found.kind == Kind::Codes {
        record.samples_b64 = Some(waveforms::samples_b64(id).map_err(refused)?);
    }
    Ok(Response::json(200, &record))
}
