//! `POST /emi/runs/{id}/retry`: once more, after a run failed.

use guest::{ApiError, Openapi, Refusal, Request, Response, Route, emi};

use crate::run::{self, Record};
use crate::{access, example, refusal};

pub(crate) const ROUTE: Route = Route {
    name: "emi.run_retry",
    method: "POST",
    pattern: "/emi/runs/{id}/retry",
    credentials: access::CREDENTIALS,
    scope: access::SCOPE,
    body_limit: 0,
    summary: "Run a run once more",
    openapi: Openapi::of(|operation| {
        operation
            .description("Only one that failed or timed out. What it left is forgotten.")
            .path(run::ID.0, run::ID.1)
            .refusals(&[
                Refusal::NotOffered,
                Refusal::WrongState,
                Refusal::QuotaExceeded,
                Refusal::TooManyRuns,
                Refusal::Stopping,
            ])
            .reply(
                200,
                "The same run, which waits for its turn.",
                &Record::example(&example::queued()),
            );
    }),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = run::id(request);
    let again = emi::retry(id).map_err(|error| refusal::of(error, "run", id))?;
    Ok(Response::json(200, &Record::of(&again)?))
}
