//! `GET /jobs/{id}/trace.json`: the timeline of a job.

use guest::jobs::Page;
use guest::{ApiError, Openapi, Request, Response, Route};
use serde_json::json;

use crate::{job, page};

/// Media type of the timeline.
const TYPE: &str = "application/json";

pub(crate) const ROUTE: Route = Route {
    name: "jobs.trace",
    method: "GET",
    pattern: "/jobs/{id}/trace.json",
    credentials: job::CREDENTIALS,
    scope: job::SCOPE,
    body_limit: 0,
    summary: "The timeline of a job, for Perfetto",
    openapi: Openapi::of(|operation| {
        let example = json!([
            {"name": "fw.f0", "ph": "X", "ts": 0, "dur": 10_000_000, "pid": 1, "tid": 1}
        ]);
        operation
            .refusals(&[guest::Refusal::Unfinished])
            .path(job::ID.0, job::ID.1)
            .reply_content(
                200,
                "Events of Chrome's trace format.",
                TYPE,
                json!({"type": "array"}),
                example,
            );
    }),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    page::answer(request, Page::Trace, &[("content-type", TYPE)])
}
