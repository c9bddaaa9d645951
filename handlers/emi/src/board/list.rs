//! `GET /emi/projects/{id}/boards`: the boards of a project, newest first.

use guest::emi::{self, Board};
use guest::{ApiError, Openapi, Request, Response, Route};
use schemars::JsonSchema;
use serde::Serialize;

use crate::board::Record;
use crate::page::Page;
use crate::{access, example, project, refusal};

pub(crate) const ROUTE: Route = Route {
    name: "emi.boards",
    method: "GET",
    pattern: "/emi/projects/{id}/boards",
    credentials: access::CREDENTIALS,
    scope: access::SCOPE,
    body_limit: 0,
    summary: "List the boards of a project, newest first",
    openapi: Openapi::of(|operation| {
        let boards = [example::board()];
        let example = Listed {
            boards: boards.iter().map(Record::example).collect(),
            next: None,
        };
        operation
            .path(project::ID.0, project::ID.1)
            .query::<Page>()
            .reply(200, "One page.", &example);
    }),
    handle,
};

/// A page of boards.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Boards")]
struct Listed<'a> {
    boards: Vec<Record<'a>>,
    /// Pass as `cursor` to go on; absent at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<&'a str>,
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = project::id(request);
    let page: Page = request.query()?.read()?;
    let (found, next) = emi::boards(id, page.limit, page.cursor.as_deref())
        .map_err(|error| refusal::of(error, "project", id))?;
    Ok(Response::json(200, &listed(&found, next.as_deref())?))
}

fn listed<'a>(found: &'a [Board], next: Option<&'a str>) -> Result<Listed<'a>, ApiError> {
    let boards: Result<_, _> = found.iter().map(Record::of).collect();
    Ok(Listed {
        boards: boards?,
        next,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::listed;
    use crate::example;

    #[test]
    fn a_page() {
        let boards = [example::unread(), example::board()];
        let told = json!(listed(&boards, Some("c")).unwrap());
        assert_eq!(told["boards"][1]["net_count"], 31);
        assert_eq!(told["next"], "c");
        assert_eq!(json!(listed(&[], None).unwrap()), json!({"boards": []}));
    }
}
