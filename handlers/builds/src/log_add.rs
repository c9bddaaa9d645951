//! `POST /cloud/builds/{build}/logs`: what a build printed.

use guest::{ApiError, Openapi, Request, Response, Route, builds, streamed};
use schemars::json_schema;
use serde_json::json;

use crate::artifact_add::{Added, BYTES_MAX, REFUSALS};
use crate::build::Named;
use crate::{artifact, build};

/// Media type of logs.
const TYPE: &str = "text/plain";

pub(crate) const ROUTE: Route = Route {
    name: "builds.logs.add",
    method: "POST",
    pattern: "/cloud/builds/{build}/logs",
    credentials: build::REPORT,
    scope: build::SCOPE,
    body_limit: streamed(BYTES_MAX),
    summary: "Add a log to a build",
    openapi: Openapi::of(|operation| {
        let log = builds::Artifact {
            name: "pytest.log".into(),
            ..artifact::example()
        };
        build::describe_id(operation);
        operation
            .refusals(&REFUSALS)
            .query::<Named>()
            .content(
                TYPE,
                json_schema!({"type": "string", "contentMediaType": TYPE}),
                json!("2 passed\n"),
            )
            .reply(201, "Stored.", &Added::from(&log));
    }),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let Named { name } = request.query()?.read()?;
    let id = build::id(request);
    let added = build::receive(id, builds::Kind::Log, &name, TYPE)?;
    Ok(Response::json(201, &Added::from(&added)))
}
