//! `GET /github/trust`: the trust rules of the organisation.

use guest::{ApiError, Openapi, Request, Response, Route, trust};
use schemars::JsonSchema;
use serde::Serialize;

use crate::rule::Record;
use crate::{rule, scope};

pub(crate) const ROUTE: Route = Route {
    name: "trust.list",
    method: "GET",
    pattern: "/github/trust",
    credentials: rule::CREDENTIALS,
    scope: Some(scope::ADMIN),
    body_limit: 0,
    summary: "List trust rules for CI",
    openapi: Openapi::of(|operation| {
        operation.reply(
            200,
            "The rules, oldest first; the oldest that fits a run counts.",
            &records(&[rule::example()]),
        );
    }),
    handle,
};

/// The rules of an organisation.
#[derive(Serialize, JsonSchema)]
struct Rules<'a> {
    rules: Vec<Record<'a>>,
}

fn records(rules: &[trust::Rule]) -> Rules<'_> {
    Rules {
        rules: rules.iter().map(Record::from).collect(),
    }
}

fn handle(_: &Request) -> Result<Response, ApiError> {
    let rules = trust::list().map_err(|error| rule::refusal(error, ""))?;
    Ok(Response::json(200, &records(&rules)))
}
