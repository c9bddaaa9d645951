//! `GET /emi/boards/lookup?sha256=`: whether the organisation has a board of these bytes.

use guest::emi::{self, FoundBoard};
use guest::{ApiError, Openapi, Request, Response, Route, members};
use schemars::JsonSchema;
use serde::Serialize;

use crate::upload::Digest;
use crate::{access, board, example, project, refusal};

pub(crate) const ROUTE: Route = Route {
    name: "emi.board_lookup",
    method: "GET",
    pattern: "/emi/boards/lookup",
    credentials: access::CREDENTIALS,
    scope: access::SCOPE,
    body_limit: 0,
    summary: "Look for a board by its bytes",
    openapi: Openapi::of(|operation| {
        let found = FoundBoard {
            board: example::board(),
            project: example::project(),
            parsed: true,
        };
        let told = Told {
            found: true,
            board: Some(board::Record::example(&found.board)),
            project: Some((&found.project).into()),
            parsed: Some(found.parsed),
        };
        operation.query::<Asked>().reply(
            200,
            "The newest board of these bytes, if there is one.",
            &told,
        );
    }),
    handle,
};

members! {
    #[derive(Debug)]
    struct Asked {
        /// SHA-256 of the file, in hexadecimal.
        sha256: String = required(Digest),
    }
}

/// Whether there is such a board.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Lookup")]
struct Told<'a> {
    found: bool,
    /// Absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    board: Option<board::Record<'a>>,
    /// Its project.
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<project::Record<'a>>,
    /// Whether it was read to the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    parsed: Option<bool>,
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let asked: Asked = request.query()?.read()?;
    let found = emi::lookup(&asked.sha256).map_err(|error| refusal::of(error, "board", ""))?;
    Ok(Response::json(200, &told(found.as_ref())?))
}

fn told(found: Option<&FoundBoard>) -> Result<Told<'_>, ApiError> {
    let board = found.map(|found| board::Record::of(&found.board));
    Ok(Told {
        found: found.is_some(),
        board: board.transpose()?,
        project: found.map(|found| (&found.project).into()),
        parsed: found.map(|found| found.parsed),
    })
}

#[cfg(test)]
mod tests {
    use guest::emi::FoundBoard;
    use guest::testing::get;
    use serde_json::json;

    use super::{Asked, told};
    use crate::example;

    #[test]
    fn found_or_not() {
        assert_eq!(json!(told(None).unwrap()), json!({"found": false}));
        let found = FoundBoard {
            board: example::unread(),
            project: example::project(),
            parsed: false,
        };
        let told = json!(told(Some(&found)).unwrap());
        assert_eq!(
            (&told["found"], &told["parsed"]),
            (&json!(true), &json!(false))
        );
        assert_eq!(told["project"]["id"], example::PROJECT);
        assert_eq!(told["board"]["id"], example::BOARD);
    }

    #[test]
    fn a_digest_is_needed() {
        for query in ["", "sha256=", "sha256=xyz"] {
            let error = get(&[], query)
                .query()
                .unwrap()
                .read::<Asked>()
                .unwrap_err();
            assert_eq!(
                (error.status, error.fields[0].field.as_str()),
                (400, "sha256")
            );
        }
    }
}
