//! `GET /emi/runs/{id}/artifacts`: the files that a run made.

use guest::emi::{self, Artifact};
use guest::{ApiError, Openapi, Request, Response, Route};
use schemars::JsonSchema;
use serde::Serialize;

use super::Record;
use crate::{access, example, refusal, run};

pub(crate) const ROUTE: Route = Route {
    name: "emi.artifacts",
    method: "GET",
    pattern: "/emi/runs/{id}/artifacts",
    credentials: access::CREDENTIALS,
    scope: access::SCOPE,
    body_limit: 0,
    summary: "List the files that a run made",
    openapi: Openapi::of(|operation| {
        operation.path(run::ID.0, run::ID.1).reply(
            200,
            "None until it is done.",
            &told(&[example::artifact()]),
        );
    }),
    handle,
};

/// Files of a run.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Artifacts")]
struct Told<'a> {
    artifacts: Vec<Record<'a>>,
}

fn told(found: &[Artifact]) -> Told<'_> {
    Told {
        artifacts: found.iter().map(Into::into).collect(),
    }
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = run::id(request);
    let found = emi::artifacts(id).map_err(|error| refusal::of(error, "run", id))?;
    Ok(Response::json(200, &told(&found)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::told;
    use crate::example;

    #[test]
    fn all_is_told() {
        assert_eq!(
            json!(told(&[example::artifact()])),
            json!({"artifacts": [{
                "name": "rules.json", "content_type": "application/json", "size_bytes": 5120,
                "sha256": example::SHA256, "created_at": "2026-01-02T03:04:08Z"
            }]})
        );
        assert_eq!(json!(told(&[])), json!({"artifacts": []}));
    }
}
