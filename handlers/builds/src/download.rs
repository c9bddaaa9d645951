//! `GET /bench/builds/{job}/packs/{pack}/artifacts/{name...}`: the bytes of a file.

use guest::{ApiError, Body, Openapi, Request, Response, Route, builds};
use serde_json::json;

use crate::build;

pub(crate) const ROUTE: Route = Route {
    name: "builds.download",
    method: "GET",
    pattern: "/bench/builds/{job}/packs/{pack}/artifacts/{name...}",
    credentials: build::READ,
    scope: build::SCOPE,
    body_limit: 0,
    summary: "Download a file of a build",
    openapi: Openapi::of(|operation| {
        let bytes = "application/octet-stream";
        operation
            .path("job", "Build id, or job id.")
            .path(
                "pack",
                "`external` for reported builds, otherwise the run of the job.",
            )
            .path("name", "Name of the file; may hold `/`.")
            .reply_content(
                200,
                "The bytes of the file.",
                bytes,
                json!({"type": "string", "contentMediaType": bytes}),
                json!("abc"),
            );
    }),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let (job, pack, name) = (request.param(0), request.param(1), request.param(2));
    let (found, stream) =
        builds::read(job, pack, name).map_err(|error| build::refusal(error, name))?;
    let header = |name: &str, value: String| (name.to_owned(), value);
    Ok(Response {
        status: 200,
        headers: vec![
            header("content-type", found.content_type),
            // Whoever uploaded it chose the media type: no browser shows it as a page of ours.
            header("content-disposition", "attachment".to_owned()),
            header("etag", format!("\"{}\"", found.sha256)),
        ],
        body: Body::Stream(stream),
    })
}
