//! `GET /jobs/{id}/artifacts/{run}/{name...}`: the bytes of a file that a job made.

use guest::{ApiError, Body, Openapi, Request, Response, Route, jobs};
use serde_json::json;

use crate::{job, refusal};

/// A job decides what is in its files, and is not asked what they are.
const TYPE: &str = "application/octet-stream";

pub(crate) const ROUTE: Route = Route {
    name: "jobs.artifact",
    method: "GET",
    pattern: "/jobs/{id}/artifacts/{run}/{name...}",
    credentials: job::CREDENTIALS,
    scope: job::SCOPE,
    body_limit: 0,
    summary: "Download a file that a job made",
    openapi: Openapi::of(|operation| {
        operation
            .path(job::ID.0, job::ID.1)
            .path("run", "Id of the run that made it.")
            .path("name", "Name of the file; may hold `/`.")
            .reply_content(
                200,
                "The bytes of the file; `ETag` is its SHA-256.",
                TYPE,
                json!({"type": "string", "contentMediaType": TYPE}),
                json!("abc"),
            );
    }),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let (id, run, name) = (request.param(0), request.param(1), request.param(2));
    let (found, stream) = jobs::read_artifact(id, run, name)
        .map_err(|error| refusal::of(error, "job, run or file", name))?;
    Ok(Response {
        status: 200,
        headers: headers(&found),
        body: Body::Stream(stream),
    })
}

fn headers(artifact: &jobs::Artifact) -> Vec<(String, String)> {
    [
        ("content-type", TYPE.to_owned()),
        // No browser shows it as a page of ours.
        ("content-disposition", "attachment".to_owned()),
        ("etag", format!("\"{}\"", artifact.sha256)),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .to_vec()
}

#[cfg(test)]
mod tests {
    use super::headers;
    use crate::example;

    #[test]
    fn a_file_is_no_page() {
        let headers = headers(&example::artifact());
        let value = |name: &str| {
            let found = headers.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| value.as_str())
        };
        assert_eq!(value("content-type"), Some("application/octet-stream"));
        assert_eq!(value("content-disposition"), Some("attachment"));
        let tag = "\"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\"";
        assert_eq!(value("etag"), Some(tag));
    }
}
