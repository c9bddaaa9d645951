//! `GET /emi/projects/{id}/report`, which is `/tools/emi/{id}` for people: what the newest run of a project found, as a page.

use std::fmt::Write;

use guest::emi::{self, Artifact, Error, Project, Run, Status};
use guest::{ApiError, Body, Openapi, Refusal, Request, Response, Route, page};
use serde_json::json;

use crate::artifact::file;
use crate::run::STATUSES;
use crate::{access, project, refusal};

/// The page that a run leaves behind.
const REPORT: &str = "report.html";

/// Runs that are looked at for a report, newest first.
const RUNS_MAX: u32 = 200;

/// Seconds after which a browser looks again for a run that goes on.
const AGAIN_S: u32 = 3;

pub(crate) const ROUTE: Route = Route {
    name: "emi.project_report",
    method: "GET",
    pattern: "/emi/projects/{id}/report",
    credentials: access::CREDENTIALS,
    scope: access::SCOPE,
    body_limit: 0,
    summary: "The newest report of a project, as a page",
    openapi: Openapi::of(|operation| {
        operation
            .description(
                "At `/tools/emi/{id}`, too, for people. A browser gets a page also where there is no report.",
            )
            .path(project::ID.0, project::ID.1)
            .refusals(&[Refusal::Unfinished])
            .reply_content(
                200,
                "`report.html` of the newest run that has one.",
                "text/html",
                json!({"type": "string", "contentMediaType": "text/html"}),
                json!("<!doctype html>\n<title>sensor</title>\n"),
            );
    }),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = project::id(request);
    let failed = |error| refusal::of(error, "project", id);
    let found = match emi::get_project(id) {
        Ok(found) => found,
        Err(Error::NotFound) => {
            let title = "There is no such project in your organisation";
            return page::refused(request, failed(Error::NotFound), title);
        }
        Err(error) => return Err(failed(error)),
    };
    let (runs, _) = emi::runs(id, RUNS_MAX, None).map_err(failed)?;
    for run in runs.iter().filter(|run| run.status == Status::Done) {
        match emi::read_artifact(&run.id, REPORT) {
            Ok((artifact, content)) => return Ok(shown(&artifact, Body::Stream(content))),
            Err(Error::NotFound) => {}
            Err(error) => return Err(failed(error)),
        }
    }
    if page::is_wanted(request) {
        return Ok(none(&found, runs.first()));
    }
    Err(ApiError::of(
        Refusal::Unfinished,
        "no run of the project has come to a report; upload a board, or wait for its run",
    ))
}

/// The report, under the rules for files that runs make, and in the frame of no other page.
fn shown(artifact: &Artifact, body: Body) -> Response {
    let mut headers = file::headers(artifact);
    for (name, value) in &mut headers {
        if name == "content-security-policy" {
            value.push_str("; frame-ancestors 'none'");
        }
    }
    headers.push(("vary".to_owned(), "accept".to_owned()));
    Response {
        status: 200,
        headers,
        body,
    }
}

/// Why there is no report, and what comes of it.
fn none(project: &Project, newest: Option<&Run>) -> Response {
    let mut html = format!(
        "<p>No report of the project {} yet.</p>\n",
        page::escaped(&project.name)
    );
    // Writing to a string cannot fail.
    let _ = match newest {
        None => write!(
            html,
            "<p>No board was uploaded to it. The API under <code>/api/emi</code> takes one, as does the action for CI.</p>"
        ),
        Some(run) => write!(
            html,
            "<p>Its newest run: {}{}.</p>",
            page::escaped(STATUSES.word(run.status)),
            match &run.error {
                Some(error) => format!(": {}", page::escaped(error)),
                None => format!(", {} %", run.progress.pct),
            }
        ),
    };
    let goes_on = newest.is_some_and(|run| {
        matches!(
            run.status,
            Status::New | Status::RetryPending | Status::InProgress | Status::Stopping
        )
    });
    page::page(404, "No report", &html, goes_on.then_some(AGAIN_S))
}

#[cfg(test)]
mod tests {
    use guest::Body;
    use guest::testing::{bytes, header};

    use super::{none, shown};
    use crate::example;

    fn text(newest: Option<&guest::emi::Run>) -> String {
        let mut project = example::project();
        project.name = "<b>".into();
        let answer = none(&project, newest);
        assert_eq!(answer.status, 404);
        String::from_utf8(bytes(&answer).to_vec()).unwrap()
    }

    #[test]
    fn a_project_without_a_report_says_why() {
        let bare = text(None);
        assert!(
            bare.contains("&lt;b&gt;") && bare.contains("No board was uploaded"),
            "{bare}"
        );
        assert!(!bare.contains("refresh"), "{bare}");
        let waits = text(Some(&example::queued()));
        assert!(
            waits.contains("newest run: new") && waits.contains("refresh"),
            "{waits}"
        );
        let mut failed = example::run();
        failed.status = guest::emi::Status::Failed;
        failed.error = Some("line 3: a <script>".into());
        let failed = text(Some(&failed));
        assert!(
            failed.contains("failed: line 3: a &lt;script&gt;."),
            "{failed}"
        );
        assert!(!failed.contains("refresh"), "{failed}");
    }

    #[test]
    fn a_report_is_shown_alone_and_may_do_nothing() {
        let mut artifact = example::artifact();
        artifact.content_type = "text/html; charset=utf-8".into();
        let answer = shown(&artifact, Body::Empty);
        let policy = header(&answer, "content-security-policy").unwrap();
        assert!(policy.starts_with("sandbox allow-scripts"), "{policy}");
        assert!(policy.ends_with("frame-ancestors 'none'"), "{policy}");
        let how = header(&answer, "content-disposition").unwrap();
        assert!(how.starts_with("inline"), "{how}");
    }
}
