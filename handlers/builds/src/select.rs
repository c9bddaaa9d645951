//! `GET /bench/builds/artifact`: the one file that is meant by build, repository, branch and name.

use guest::{ApiError, Openapi, Refusal, Request, Response, Route, builds, members};
use schemars::JsonSchema;
use serde::Serialize;

use crate::artifact::{self, Record};
use crate::build::{self, short_text};

pub(crate) const ROUTE: Route = Route {
    name: "builds.artifact",
    method: "GET",
    pattern: "/bench/builds/artifact",
    credentials: build::READ,
    scope: build::SCOPE,
    body_limit: 0,
    summary: "Find a file of a build",
    openapi: Openapi::of(|operation| {
        let example = artifact::example();
        operation
            .refusals(&[Refusal::Ambiguous])
            .query::<Asked>()
            .reply(
                200,
                "The one file that fits.",
                &record(&example).expect("the example has an object for wiring"),
            );
    }),
    handle,
};

members! {
    struct Asked {
        /// Id of a build or of a job, or `latest` (default): the newest successful one.
        build: Option<String> = optional(short_text()),
        /// `owner/name` or `name`. Jobs have none.
        repo: Option<String> = optional(short_text()),
        /// Branch or tag.
        r#ref: Option<String> = optional(short_text()),
        /// File name, or its last part. If several packs of a job have it: `<pack_id>/<name>`. Default: the
        /// `.elf`, else the `.hex`, else the `.bin`.
        artifact: Option<String> = optional(short_text()),
    }
}

/// What was found.
#[derive(Serialize, JsonSchema)]
struct Found<'a> {
    artifact: Record<'a>,
}

fn record(found: &builds::Artifact) -> Result<Found<'_>, ApiError> {
    let artifact = Record::of(found)?;
    Ok(Found { artifact })
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let selector = parse(request)?;
    let found = builds::select(&selector).map_err(|error| build::refusal(error, ""))?;
    reply(&found)
}

fn parse(request: &Request) -> Result<builds::Selector, ApiError> {
    let asked: Asked = request.query()?.read()?;
    // An empty parameter counts as left out.
    let given = |text: Option<String>| text.filter(|text| !text.is_empty());
    Ok(builds::Selector {
        build: given(asked.build),
        repo: given(asked.repo),
        ref_: given(asked.r#ref),
        pack: None,
        artifact: given(asked.artifact),
    })
}

fn reply(found: &builds::Artifact) -> Result<Response, ApiError> {
    Ok(Response::json(200, &record(found)?))
}

#[cfg(test)]
mod tests {
    use guest::testing::{json, request};

    use super::{parse, reply};

    #[test]
    fn empty_parameters_are_left_out() {
        let mut request = request("");
        request.query = "build=latest&repo=acme%2Fblinky&ref=&artifact=".into();
        let selector = parse(&request).unwrap();
        assert_eq!(selector.build.as_deref(), Some("latest"));
        assert_eq!(selector.repo.as_deref(), Some("acme/blinky"));
        assert!(selector.ref_.is_none() && selector.artifact.is_none());
        request.query = "job=1".into();
        assert_eq!(parse(&request).unwrap_err().status, 400);
    }

    #[test]
    fn reply_has_what_clients_read() {
        let body = json(&reply(&crate::artifact::example()).unwrap());
        let artifact = &body["artifact"];
        assert_eq!(artifact["repo"], "acme/blinky");
        assert_eq!(artifact["wiring_defaults"]["swclk"], 1);
        assert_eq!(artifact["pack_id"], "external");
    }
}
