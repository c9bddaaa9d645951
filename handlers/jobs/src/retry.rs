//! `POST /jobs/{id}/retry`: queue a finished job once more.

use guest::{ApiError, Openapi, Refusal, Request, Response, Route, jobs};

use crate::job::{self, Record};
use crate::{example, refusal};

pub(crate) const ROUTE: Route = Route {
    name: "jobs.retry",
    method: "POST",
    pattern: "/jobs/{id}/retry",
    credentials: job::CREDENTIALS,
    scope: job::SCOPE,
    body_limit: 0,
    summary: "Submit a finished job once more",
    openapi: Openapi::of(|operation| {
        let again = jobs::Job {
            retry_of: Some("01JGZ5V9T3N8W2K4Q7R6D1M0XH".into()),
            ..example::queued()
        };
        operation
            .refusals(&[
                Refusal::Unfinished,
                Refusal::InvalidDefinition,
                Refusal::QuotaExceeded,
                Refusal::TooManyJobs,
                Refusal::NoIsolation,
                Refusal::Stopping,
            ])
            .path(job::ID.0, job::ID.1)
            .reply(
                201,
                "Another job, with the same pipeline and sources; `Location` is where to follow it.",
                &Record::whole(&again),
            );
    }),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = job::id(request);
    let again = jobs::retry(id).map_err(|error| refusal::of(error, "job", id))?;
    Ok(job::made(&again, &Record::whole(&again)))
}
