//! `GET /jobs/{id}/captures/{capture}`: a capture that a job made, as a file, streamed by the host.

use guest::{ApiError, Body, Openapi, Refusal, Request, Response, Route, jobs};
use serde_json::json;

use crate::{job, refusal};

/// A sigrok session is a ZIP file, and nobody's page.
const TYPE: &str = "application/octet-stream";

pub(crate) const ROUTE: Route = Route {
    name: "jobs.capture",
    method: "GET",
    pattern: "/jobs/{id}/captures/{capture}",
    credentials: job::CREDENTIALS,
    scope: job::SCOPE,
    body_limit: 0,
    summary: "Download a capture that a job made",
    openapi: Openapi::of(|operation| {
        operation
            .refusals(&[Refusal::WrongState])
            .path(job::ID.0, job::ID.1)
            .path("capture", "Id of a capture among those of the job.")
            .reply_content(
                200,
                "A sigrok session (`.sr`), for `hostd decode`, sigrok-cli and PulseView.",
                TYPE,
                json!({"type": "string", "contentMediaType": TYPE}),
                json!("PK"),
            );
    }),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let (id, capture) = (request.param(0), request.param(1));
    let (file, stream) = jobs::read_capture(id, capture)
        .map_err(|error| refusal::of(error, "job or capture", capture))?;
    Ok(Response {
        status: 200,
        headers: headers(&file),
        body: Body::Stream(stream),
    })
}

/// The name of the file has plain letters alone.
fn headers(file: &str) -> Vec<(String, String)> {
    [
        ("content-type", TYPE.to_owned()),
        (
            "content-disposition",
            format!("attachment; filename=\"{file}\""),
        ),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .to_vec()
}

#[cfg(test)]
mod tests {
    use super::headers;

    #[test]
    fn a_capture_is_a_file() {
        let headers = headers("boot.sr");
        let value = |name: &str| {
            let found = headers.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| value.as_str())
        };
        assert_eq!(value("content-type"), Some("application/octet-stream"));
        let disposition = "attachment; filename=\"boot.sr\"";
        assert_eq!(value("content-disposition"), Some(disposition));
    }
}
