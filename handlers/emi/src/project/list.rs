//! `GET /emi/projects`: the projects of the organisation, newest first.

use guest::emi::{self, Project};
use guest::{ApiError, Openapi, Request, Response, Route};
use schemars::JsonSchema;
use serde::Serialize;

use crate::page::Page;
use crate::project::Record;
use crate::{access, example, refusal};

pub(crate) const ROUTE: Route = Route {
    name: "emi.projects",
    method: "GET",
    pattern: "/emi/projects",
    credentials: access::CREDENTIALS,
    scope: access::SCOPE,
    body_limit: 0,
    summary: "List projects, newest first",
    openapi: Openapi::of(|operation| {
        let example = [example::project()];
        operation
            .query::<Page>()
            .reply(200, "One page.", &listed(&example, None));
    }),
    handle,
};

/// A page of projects.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Projects")]
struct Listed<'a> {
    projects: Vec<Record<'a>>,
    /// Pass as `cursor` to go on; absent at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<&'a str>,
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let page: Page = request.query()?.read()?;
    let (found, next) = emi::projects(page.limit, page.cursor.as_deref())
        .map_err(|error| refusal::of(error, "project", ""))?;
    Ok(Response::json(200, &listed(&found, next.as_deref())))
}

fn listed<'a>(found: &'a [Project], next: Option<&'a str>) -> Listed<'a> {
    let projects = found.iter().map(Into::into).collect();
    Listed { projects, next }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::listed;
    use crate::example;

    #[test]
    fn all_is_told() {
        assert_eq!(
            json!(listed(&[example::project()], Some("c"))),
            json!({
                "projects": [{
                    "id": "01JGZ5V9T3N8W2K4Q7R6D1M0XP",
                    "organization_id": "01JGZ5V9T3N8W2K4Q7R6D1M0X0",
                    "name": "sensor",
                    "source_kind": "kicad",
                    "created_by": "01JGZ5V9T3N8W2K4Q7R6D1M0XB",
                    "created_at": "2026-01-02T03:04:05Z"
                }],
                "next": "c"
            })
        );
        assert_eq!(json!(listed(&[], None)), json!({"projects": []}));
    }
}
