//! `WS /jobs/{id}/ws`: a job while it happens.

use guest::{ApiError, Body, Openapi, Request, Response, Route, jobs};

use crate::{job, refusal};

pub(crate) const ROUTE: Route = Route {
    name: "jobs.live",
    method: "WS",
    pattern: "/jobs/{id}/ws",
    credentials: job::CREDENTIALS,
    scope: job::SCOPE,
    body_limit: 0,
    summary: "Follow a job",
    openapi: Openapi::of(|operation| {
        operation
            .path(job::ID.0, job::ID.1)
            .host_query("token", "Credential, where no header can be set.")
            .reply_empty(
                101,
                "Text messages are JSON objects with a `type`. `job` tells how the job stands, by `id`, `state`, \
                 `ended_because`, `verdict`, `status`, `message` and `attempts` (`number`, `run`, `device`, `outcome`), \
                 first as it is and then whenever that changes. `output` is what an attempt wrote, from its beginning \
                 and each byte once: `attempt`, `stream` (`output`, `error`, `uart`, `server`), `offset` in its log, \
                 how many `bytes` it is there, `step`, `text`. `dropped` tells how many `bytes` the log of an \
                 `attempt` lacks at this place. `end` comes last. The stream takes no messages, and waits for slow readers. Close codes: 1000 the job is \
                 over, 1001 the server stops, 1003 a message was sent, 1008 the client takes or answers nothing, or \
                 `revoked_credential`, `expired_credential`.",
            );
    }),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = job::id(request);
    let upgrade = jobs::follow(id).map_err(|error| refusal::of(error, "job", id))?;
    Ok(Response {
        status: 101,
        headers: Vec::new(),
        body: Body::Upgrade(upgrade),
    })
}
