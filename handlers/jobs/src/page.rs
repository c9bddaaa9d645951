//! What the endpoints share that show what a finished job leaves.

use guest::jobs::{self, Page};
use guest::{ApiError, Body, Operation, Refusal, Request, Response};
use serde_json::json;

use crate::{job, refusal};

/// Tells a page of this media type in the document.
pub(crate) fn describe(operation: &mut Operation, said: &str, media_type: &str, example: &str) {
    operation
        .refusals(&[Refusal::Unfinished, Refusal::TooManyJobs])
        .path(job::ID.0, job::ID.1)
        .reply_content(
            200,
            said,
            media_type,
            json!({"type": "string", "contentMediaType": media_type}),
            json!(example),
        );
}

/// The page of the job that the path names, under these headers.
pub(crate) fn answer(
    request: &Request,
    page: Page,
    headers: &[(&str, &str)],
) -> Result<Response, ApiError> {
    let id = job::id(request);
    let stream = jobs::read_page(id, page).map_err(|error| refusal::of(error, "job", id))?;
    let headers = headers.iter();
    let headers = headers.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Ok(Response {
        status: 200,
        headers: headers.collect(),
        body: Body::Stream(stream),
    })
}
