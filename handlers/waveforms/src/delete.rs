//! `DELETE /bench/waveforms/{id}`: forget a waveform and its samples.

use guest::{ApiError, Openapi, Request, Response, Route, waveforms};

use crate::waveform;

pub(crate) const ROUTE: Route = Route {
    name: "waveforms.delete",
    method: "DELETE",
    pattern: "/bench/waveforms/{id}",
    credentials: waveform::CREDENTIALS,
    scope: waveform::SCOPE,
    body_limit: 0,
    summary: "Delete a waveform",
    openapi: Openapi::of(|operation| {
        operation
            .path(waveform::ID.0, waveform::ID.1)
            .reply_empty(204, "Deleted. What plays goes on.");
    }),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = waveform::id(request);
    waveforms::delete(id).map_err(|error| waveform::refusal(error, id))?;
    Ok(Response::no_content())
}
