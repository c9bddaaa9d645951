//! `GET /emi/runs/{id}/artifacts/{name...}`: an address of a file, for a browser or a program without a credential.

use guest::emi::{self, Link};
use guest::{ApiError, Openapi, Request, Response, Route};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{access, example, refusal, run};

pub(crate) const ROUTE: Route = Route {
    name: "emi.artifact",
    method: "GET",
    pattern: "/emi/runs/{id}/artifacts/{name...}",
    credentials: access::CREDENTIALS,
    scope: access::SCOPE,
    body_limit: 0,
    summary: "Ask for the address of a file that a run made",
    openapi: Openapi::of(|operation| {
        let link = Link {
            artifact: example::artifact(),
            url: format!(
                "https://bench.example/api/emi/files/{}/{}/rules.json?expires=1767323945&signature=Cg",
                example::ORG,
                example::RUN
            ),
            expires_in_s: 900,
        };
        operation
            .path(run::ID.0, run::ID.1)
            .path("name", "Name of the file; may hold `/`.")
            .reply(
                200,
                "Where it is for a quarter of an hour.",
                &Record::from(&link),
            );
    }),
    handle,
};

/// Where a file is.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Link")]
struct Record<'a> {
    /// Absolute. Whoever has it may read the file, so keep it to yourself.
    url: &'a str,
    name: &'a str,
    content_type: &'a str,
    size_bytes: u64,
    /// Seconds for which the URL is good.
    expires_in: u32,
}

impl<'a> From<&'a Link> for Record<'a> {
    fn from(link: &'a Link) -> Self {
        Self {
            url: &link.url,
            name: &link.artifact.name,
            content_type: &link.artifact.content_type,
            size_bytes: link.artifact.size_bytes,
            expires_in: link.expires_in_s,
        }
    }
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let (id, name) = (run::id(request), request.param(1));
    let link =
        emi::link_artifact(id, name).map_err(|error| refusal::of(error, "artifact", name))?;
    Ok(Response::json(200, &Record::from(&link)))
}
