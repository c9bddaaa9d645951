//! `GET /emi/projects/{id}/runs`: the runs of a project, newest first.

use guest::emi::{self, Run};
use guest::{ApiError, Openapi, Request, Response, Route};
use schemars::JsonSchema;
use serde::Serialize;

use crate::page::Page;
use crate::run::Record;
use crate::{access, example, project, refusal};

pub(crate) const ROUTE: Route = Route {
    name: "emi.runs",
    method: "GET",
    pattern: "/emi/projects/{id}/runs",
    credentials: access::CREDENTIALS,
    scope: access::SCOPE,
    body_limit: 0,
    summary: "List the runs of a project, newest first",
    openapi: Openapi::of(|operation| {
        let runs = [example::run()];
        let example = Listed {
            runs: runs.iter().map(Record::example).collect(),
            next: None,
        };
        operation
            .path(project::ID.0, project::ID.1)
            .query::<Page>()
            .reply(200, "One page.", &example);
    }),
    handle,
};

/// A page of runs.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Runs")]
struct Listed<'a> {
    runs: Vec<Record<'a>>,
    /// Pass as `cursor` to go on; absent at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<&'a str>,
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = project::id(request);
    let page: Page = request.query()?.read()?;
    let (found, next) = emi::runs(id, page.limit, page.cursor.as_deref())
        .map_err(|error| refusal::of(error, "project", id))?;
    Ok(Response::json(200, &listed(&found, next.as_deref())?))
}

fn listed<'a>(found: &'a [Run], next: Option<&'a str>) -> Result<Listed<'a>, ApiError> {
    let runs: Result<_, _> = found.iter().map(Record::of).collect();
    Ok(Listed { runs: runs?, next })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::listed;
    use crate::example;

    #[test]
    fn a_page() {
        let runs = [example::queued(), example::run()];
        let told = json!(listed(&runs, Some("c")).unwrap());
        assert_eq!(told["runs"][0]["status"], "new");
        assert_eq!(told["runs"][1]["summary"]["critical"], 1);
        assert_eq!(told["next"], "c");
        assert_eq!(json!(listed(&[], None).unwrap()), json!({"runs": []}));
    }
}
