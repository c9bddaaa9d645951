//! `GET /emi/boards/{id}`: one board.

use guest::{ApiError, Openapi, Request, Response, Route, emi};

use crate::board::{self, Record};
use crate::{access, example, refusal};

pub(crate) const ROUTE: Route = Route {
    name: "emi.board_get",
    method: "GET",
    pattern: "/emi/boards/{id}",
    credentials: access::CREDENTIALS,
    scope: access::SCOPE,
    body_limit: 0,
    summary: "One board",
    openapi: Openapi::of(|operation| {
        operation.path(board::ID.0, board::ID.1).reply(
            200,
            "The board.",
            &Record::example(&example::board()),
        );
    }),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = board::id(request);
    let found = emi::get_board(id).map_err(|error| refusal::of(error, "board", id))?;
    Ok(Response::json(200, &Record::of(&found)?))
}
