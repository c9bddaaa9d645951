//! `GET /local/status`: whether this is a server that analyses boards, as programs of the same computer ask it.

use guest::{ApiError, Openapi, Request, Response, Route, emi};
use schemars::JsonSchema;
use serde::Serialize;

use crate::access;

pub(crate) const ROUTE: Route = Route {
    name: "emi.local_status",
    method: "GET",
    pattern: "/local/status",
    credentials: access::CREDENTIALS,
    scope: access::SCOPE,
    body_limit: 0,
    summary: "Whether boards are analysed here",
    openapi: Openapi::of(|operation| {
        operation
            .description(
                "For editors of boards on the same computer. With the setting `emi.local` it needs no credential from there, \
                 nor does anything else about boards.",
            )
            .reply(200, "They are.", &Told::of("0.1.0"));
    }),
    handle,
};

/// Who answers.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "LocalStatus")]
struct Told<'a> {
    /// Of the server.
    version: &'a str,
    worker: Worker,
}

/// What analyses boards.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Worker")]
struct Worker {
    /// It always runs: it is the server.
    #[schemars(extend("enum" = ["running"]))]
    state: &'static str,
    /// For people.
    message: &'static str,
}

impl<'a> Told<'a> {
    fn of(version: &'a str) -> Self {
        Self {
            version,
            worker: Worker {
                state: "running",
                message: "hostd analyses boards itself",
            },
        }
    }
}

fn handle(_: &Request) -> Result<Response, ApiError> {
    Ok(Response::json(200, &Told::of(&emi::features().version)))
}
