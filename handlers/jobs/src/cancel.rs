//! `POST /jobs/{id}/cancel`: end a job.

use guest::{ApiError, Openapi, Refusal, Request, Response, Route, jobs};

use crate::job::{self, Record};
use crate::{example, refusal};

pub(crate) const ROUTE: Route = Route {
    name: "jobs.cancel",
    method: "POST",
    pattern: "/jobs/{id}/cancel",
    credentials: job::CREDENTIALS,
    scope: job::SCOPE,
    body_limit: 0,
    summary: "Cancel a job",
    openapi: Openapi::of(|operation| {
        let mut stopping = example::job();
        (stopping.state, stopping.status) = (jobs::State::Stopping, jobs::Status::Stopping);
        stopping.ended_because = Some(jobs::EndedBecause::Cancelled);
        operation
            .refusals(&[Refusal::Finished])
            .path(job::ID.0, job::ID.1)
            .reply(
                200,
                "The job, which ends now: its steps are ended and its devices made safe. Once it is about to \
                 end, cancelling it again changes nothing.",
                &Record::whole(&stopping),
            );
    }),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = job::id(request);
    let cancelled = jobs::cancel(id).map_err(|error| refusal::of(error, "job", id))?;
    Ok(job::reply(200, &cancelled))
}
