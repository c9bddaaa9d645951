//! `GET /badges`: the badges of the organisation.

use guest::badges::{self, Badge};
use guest::{ApiError, Openapi, Request, Response, Route};
use schemars::JsonSchema;
use serde::Serialize;

use crate::badge::{self, Record};

pub(crate) const ROUTE: Route = Route {
    name: "badges.list",
    method: "GET",
    pattern: "/badges",
    credentials: badge::CREDENTIALS,
    scope: badge::SCOPE,
    body_limit: 0,
    summary: "List badges",
    openapi: Openapi::of(|operation| {
        let example = [badge::example()];
        operation.reply(200, "The badges, oldest first.", &records(&example));
    }),
    handle,
};

/// The badges of an organisation.
#[derive(Serialize, JsonSchema)]
struct Badges<'a> {
    badges: Vec<Record<'a>>,
}

fn records(badges: &[Badge]) -> Badges<'_> {
    Badges {
        badges: badges.iter().map(Record::from).collect(),
    }
}

fn handle(_: &Request) -> Result<Response, ApiError> {
    let found = badges::list().map_err(|error| badge::refusal(error, ""))?;
    Ok(Response::json(200, &records(&found)))
}
