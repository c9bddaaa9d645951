//! `GET /jobs/{id}`: a job with its runs and attempts.

use guest::{ApiError, Openapi, Request, Response, Route, jobs};

use crate::job::{self, Record};
use crate::{example, refusal};

pub(crate) const ROUTE: Route = Route {
    name: "jobs.get",
    method: "GET",
    pattern: "/jobs/{id}",
    credentials: job::CREDENTIALS,
    scope: job::SCOPE,
    body_limit: 0,
    summary: "A job",
    openapi: Openapi::of(|operation| {
        operation.path(job::ID.0, job::ID.1).reply(
            200,
            "The job.",
            &Record::whole(&example::job()),
        );
    }),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = job::id(request);
    let found = jobs::get(id).map_err(|error| refusal::of(error, "job", id))?;
    Ok(job::reply(200, &found))
}
