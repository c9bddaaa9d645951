//! `GET /jobs/{id}/report`: one page about a job, to read, attach or mail.

use guest::jobs::Page;
use guest::{ApiError, Openapi, Request, Response, Route};

use crate::{job, page};

/// The page is made of strangers' text: it may run and load nothing, and counts as of no origin. Its own style, its
/// pictures and the files it links to are all that is left.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; \
    form-action 'none'; frame-ancestors 'none'; sandbox allow-downloads";

/// Headers of the page.
const HEADERS: [(&str, &str); 3] = [
    ("content-type", "text/html; charset=utf-8"),
    ("content-security-policy", POLICY),
    ("referrer-policy", "no-referrer"),
];

pub(crate) const ROUTE: Route = Route {
    name: "jobs.report",
    method: "GET",
    pattern: "/jobs/{id}/report",
    credentials: job::CREDENTIALS,
    scope: job::SCOPE,
    body_limit: 0,
    summary: "A page about a job, for people",
    openapi: Openapi::of(|operation| {
        let said = "One HTML page, with everything in it.";
        let example = "<!doctype html>\n<title>blinky: success</title>\n";
        page::describe(operation, said, "text/html", example);
    }),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    page::answer(request, Page::Report, &HEADERS)
}

#[cfg(test)]
mod tests {
    use super::POLICY;

    #[test]
    fn the_page_may_run_and_load_nothing() {
        let directives: Vec<&str> = POLICY.split(';').map(str::trim).collect();
        for needed in [
            "default-src 'none'",
            "style-src 'unsafe-inline'",
            "img-src data:",
            "sandbox allow-downloads",
        ] {
            assert!(directives.contains(&needed), "{needed}");
        }
        assert!(
            !POLICY.contains("script") && !POLICY.contains("  "),
            "{POLICY}"
        );
    }
}
