//! `GET /jobs/trusted-refs`: whose caches all jobs of the organisation read.

use guest::{ApiError, Openapi, Request, Response, Route, jobs};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{job, refusal};

pub(crate) const DESCRIPTION: &str = "\
    Jobs of these refs write the caches that all jobs of the organisation read. Jobs of other refs read them too and \
    write a layer of their own, which only jobs of the same ref read.";

pub(crate) const ROUTE: Route = Route {
    name: "jobs.trusted_refs",
    method: "GET",
    pattern: "/jobs/trusted-refs",
    credentials: job::CREDENTIALS,
    scope: job::SCOPE,
    body_limit: 0,
    summary: "List the trusted refs",
    openapi: Openapi::of(|operation| {
        operation.description(DESCRIPTION).reply(
            200,
            "Patterns of the refs that the organisation trusts; empty: none.",
            &TrustedRefs::of(&example()),
        );
    }),
    handle,
};

/// Refs that an organisation trusts.
#[derive(Serialize, JsonSchema)]
pub(crate) struct TrustedRefs<'a> {
    /// Patterns.
    refs: &'a [String],
}

impl<'a> TrustedRefs<'a> {
    pub(crate) fn of(refs: &'a [String]) -> Self {
        Self { refs }
    }
}

/// Refs, for the documentation.
pub(crate) fn example() -> Vec<String> {
    vec!["main".to_owned(), "v*".to_owned()]
}

fn handle(_: &Request) -> Result<Response, ApiError> {
    answer(jobs::trusted_refs())
}

pub(crate) fn answer(refs: Result<Vec<String>, jobs::Error>) -> Result<Response, ApiError> {
    let refs = refs.map_err(|error| refusal::of(error, "organisation", ""))?;
    Ok(Response::json(200, &TrustedRefs::of(&refs)))
}

#[cfg(test)]
mod tests {
    use guest::jobs::Error;
    use guest::testing::json;
    use serde_json::json;

    use super::{answer, example};

    #[test]
    fn answers() {
        let reply = answer(Ok(example())).ok().unwrap();
        assert_eq!(json(&reply), json!({"refs": ["main", "v*"]}));
        let refused = answer(Err(Error::Forbidden("ask".into()))).err().unwrap();
        assert_eq!((refused.status, refused.code), (403, "forbidden"));
    }
}
