//! `GET /emi/projects/{id}`: one project.

use guest::{ApiError, Openapi, Request, Response, Route, emi};

use crate::project::{self, Record};
use crate::{access, example, refusal};

pub(crate) const ROUTE: Route = Route {
    name: "emi.project_get",
    method: "GET",
    pattern: "/emi/projects/{id}",
    credentials: access::CREDENTIALS,
    scope: access::SCOPE,
    body_limit: 0,
    summary: "One project",
    openapi: Openapi::of(|operation| {
        operation.path(project::ID.0, project::ID.1).reply(
            200,
            "The project.",
            &Record::from(&example::project()),
        );
    }),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = project::id(request);
    let found = emi::get_project(id).map_err(|error| refusal::of(error, "project", id))?;
    Ok(Response::json(200, &Record::from(&found)))
}
