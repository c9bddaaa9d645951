//! `DELETE /emi/boards/{id}`: a board goes, with its runs and their files.

use guest::{ApiError, Openapi, Request, Response, Route, emi};

use crate::{access, board, refusal};

pub(crate) const ROUTE: Route = Route {
    name: "emi.board_remove",
    method: "DELETE",
    pattern: "/emi/boards/{id}",
    credentials: access::CREDENTIALS,
    scope: access::SCOPE,
    body_limit: 0,
    summary: "Remove a board with its runs",
    openapi: Openapi::of(|operation| {
        operation
            .path(board::ID.0, board::ID.1)
            .reply_empty(204, "Removed. Its runs are stopped.");
    }),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = board::id(request);
    emi::remove_board(id).map_err(|error| refusal::of(error, "board", id))?;
    Ok(Response::no_content())
}
