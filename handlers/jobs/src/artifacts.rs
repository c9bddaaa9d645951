//! `GET /jobs/{id}/artifacts`: the files that a job made.

use guest::{ApiError, Openapi, Request, Response, Route, Time, jobs};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{example, job, refusal};

pub(crate) const ROUTE: Route = Route {
    name: "jobs.artifacts",
    method: "GET",
    pattern: "/jobs/{id}/artifacts",
    credentials: job::CREDENTIALS,
    scope: job::SCOPE,
    body_limit: 0,
    summary: "List the files that a job made",
    openapi: Openapi::of(|operation| {
        operation.path(job::ID.0, job::ID.1).reply(
            200,
            "The files there are so far.",
            &records(&[example::artifact()]),
        );
    }),
    handle,
};

/// Files of a job.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Artifacts")]
struct Records<'a> {
    artifacts: Vec<Record<'a>>,
}

/// A file that a run made.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Artifact")]
struct Record<'a> {
    /// Id of the run.
    run: &'a str,
    /// Relative path, `/` between its parts.
    name: &'a str,
    size_bytes: u64,
    /// Lower-case hexadecimal.
    sha256: &'a str,
    #[schemars(with = "Time")]
    created_at: &'a str,
}

fn records(found: &[jobs::Artifact]) -> Records<'_> {
    let artifacts = found.iter().map(|artifact| Record {
        run: &artifact.run,
        name: &artifact.name,
        size_bytes: artifact.size_bytes,
        sha256: &artifact.sha256,
        created_at: &artifact.created_at,
    });
    Records {
        artifacts: artifacts.collect(),
    }
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = job::id(request);
    let found = jobs::artifacts(id).map_err(|error| refusal::of(error, "job", id))?;
    Ok(Response::json(200, &records(&found)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::records;
    use crate::example;

    #[test]
    fn all_is_told() {
        assert_eq!(
            json!(records(&[example::artifact()])),
            json!({"artifacts": [{
                "run": "fw.f0",
                "name": "fw.elf",
                "size_bytes": 3,
                "sha256": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
                "created_at": "2026-01-02T03:04:16Z"
            }]})
        );
        assert_eq!(json!(records(&[])), json!({"artifacts": []}));
    }
}
