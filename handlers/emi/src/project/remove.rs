//! `DELETE /emi/projects/{id}`: a project goes, with all boards, runs and files.

use guest::{ApiError, Openapi, Request, Response, Route, emi};

use crate::{access, project, refusal};

pub(crate) const ROUTE: Route = Route {
    name: "emi.project_remove",
    method: "DELETE",
    pattern: "/emi/projects/{id}",
    credentials: access::CREDENTIALS,
    scope: access::SCOPE,
    body_limit: 0,
    summary: "Remove a project with its boards and runs",
    openapi: Openapi::of(|operation| {
        operation
            .path(project::ID.0, project::ID.1)
            .reply_empty(204, "Removed. Its runs are stopped.");
    }),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = project::id(request);
    emi::remove_project(id).map_err(|error| refusal::of(error, "project", id))?;
    Ok(Response::no_content())
}
