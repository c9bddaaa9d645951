//! `POST /emi/runs/{id}/stop`: end a run.

use guest::{ApiError, Openapi, Refusal, Request, Response, Route, emi};
use schemars::JsonSchema;
use serde::Serialize;

use crate::run::{self, STATUSES};
use crate::{access, refusal};

pub(crate) const ROUTE: Route = Route {
    name: "emi.run_stop",
    method: "POST",
    pattern: "/emi/runs/{id}/stop",
    credentials: access::CREDENTIALS,
    scope: access::SCOPE,
    body_limit: 0,
    summary: "Stop a run",
    openapi: Openapi::of(|operation| {
        operation
            .path(run::ID.0, run::ID.1)
            .refusals(&[Refusal::Finished])
            .reply(
                200,
                "It ends soon: as `failed`, unless it has just come to its end; look at it for when.",
                &Told::stopping(),
            );
    }),
    handle,
};

/// What becomes of a run.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Stopping")]
struct Told {
    #[schemars(extend("enum" = ["stopping"]))]
    status: &'static str,
}

impl Told {
    fn stopping() -> Self {
        Self {
            status: STATUSES.word(emi::Status::Stopping),
        }
    }
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = run::id(request);
    emi::stop(id).map_err(|error| refusal::of(error, "run", id))?;
    Ok(Response::json(200, &Told::stopping()))
}
