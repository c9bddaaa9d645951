//! `POST /cloud/builds/{build}/logs`: what a build printed.

use guest::{ApiError, Request, Response, Route, builds, streamed};

use crate::{artifact_add, build};

pub(crate) const ROUTE: Route = Route {
    name: "builds.logs.add",
    method: "POST",
    pattern: "/cloud/builds/{build}/logs",
    credentials: build::REPORT,
    scope: build::SCOPE,
    body_limit: streamed(artifact_add::BYTES_MAX),
    summary: "Add a log to a build",
    openapi: guest::compact_json!(include_str!("log_add.json")),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let mut query = request.query()?;
    let name = build::file_name(&mut query);
    query.finish()?;
    let id = build::id(request);
    let added = build::receive(id, builds::Kind::Log, &name, "text/plain")?;
    Ok(artifact_add::reply(&added))
}
