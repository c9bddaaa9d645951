//! `GET /emi/runs/{id}`: how a run stands.

use guest::{ApiError, Openapi, Request, Response, Route, emi};

use crate::run::{self, Record};
use crate::{access, example, refusal};

pub(crate) const ROUTE: Route = Route {
    name: "emi.run_get",
    method: "GET",
    pattern: "/emi/runs/{id}",
    credentials: access::CREDENTIALS,
    scope: access::SCOPE,
    body_limit: 0,
    summary: "How a run stands",
    openapi: Openapi::of(|operation| {
        operation.path(run::ID.0, run::ID.1).reply(
            200,
            "The run.",
            &Record::example(&example::run()),
        );
    }),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = run::id(request);
    let found = emi::get_run(id).map_err(|error| refusal::of(error, "run", id))?;
    Ok(Response::json(200, &Record::of(&found)?))
}
