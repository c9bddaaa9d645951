//! `GET /jobs/{id}/junit.xml`: the cases of a job, as CI systems read them.

use guest::jobs::Page;
use guest::{ApiError, Openapi, Request, Response, Route};

use crate::{job, page};

pub(crate) const ROUTE: Route = Route {
    name: "jobs.junit",
    method: "GET",
    pattern: "/jobs/{id}/junit.xml",
    credentials: job::CREDENTIALS,
    scope: job::SCOPE,
    body_limit: 0,
    summary: "A job's cases as JUnit XML",
    openapi: Openapi::of(|operation| {
        let said = "Each run, each step with a `case`, and each test of `junit` and `pytest`.";
        let example = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"blinky\"/>\n";
        page::describe(operation, said, "application/xml", example);
    }),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let headers = [("content-type", "application/xml; charset=utf-8")];
    page::answer(request, Page::Junit, &headers)
}
