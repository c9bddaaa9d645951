//! `GET /plugins`: what is installed, and what it may do.

use guest::plugins::{Listed, Refused};
use guest::{ApiError, Openapi, Refusal, Request, Response, Route, plugins};
use schemars::JsonSchema;
use serde::Serialize;

use crate::plugin::{self, Record};

pub(crate) const ROUTE: Route = Route {
    name: "plugins.list",
    method: "GET",
    pattern: "/plugins",
    credentials: plugin::CREDENTIALS,
    scope: plugin::SCOPE,
    body_limit: 0,
    summary: "List plugins",
    openapi: Openapi::of(|operation| {
        operation.refusals(&[Refusal::Forbidden]).reply(
            200,
            "All plugins of the server, by id. Operators also see grants of other organisations, and packages that \
             were not installed.",
            &Plugins::of(&Listed {
                plugins: vec![plugin::in_list()],
                refused: vec![Refused {
                    origin: "acme.x-1.0.0.tar".into(),
                    reason: "it is no tar, or it is cut off".into(),
                }],
            }),
        );
    }),
    handle,
};

/// Plugins of the server.
#[derive(Serialize, JsonSchema)]
struct Plugins<'a> {
    plugins: Vec<Record<'a>>,
    /// Packages that were not installed, since the server started.
    refused: Vec<Package<'a>>,
}

/// A package that was not installed.
#[derive(Serialize, JsonSchema)]
struct Package<'a> {
    /// Name in `plugins.folder`, or the request that sent it.
    origin: &'a str,
    reason: &'a str,
}

impl<'a> Plugins<'a> {
    fn of(listed: &'a Listed) -> Self {
        Self {
            plugins: listed.plugins.iter().map(Into::into).collect(),
            refused: listed.refused.iter().map(Into::into).collect(),
        }
    }
}

impl<'a> From<&'a Refused> for Package<'a> {
    fn from(refused: &'a Refused) -> Self {
        Self {
            origin: &refused.origin,
            reason: &refused.reason,
        }
    }
}

fn handle(_: &Request) -> Result<Response, ApiError> {
    let found = plugins::list().map_err(|error| plugin::refusal(error, ""))?;
    Ok(reply(&found))
}

fn reply(found: &Listed) -> Response {
    Response::json(200, &Plugins::of(found))
}

#[cfg(test)]
mod tests {
    use guest::plugins::Listed;
    use guest::testing::json;
    use serde_json::json;

    #[test]
    fn records() {
        let listed = Listed {
            plugins: vec![crate::plugin::in_list()],
            refused: Vec::new(),
        };
        assert_eq!(
            json(&super::reply(&listed)),
            json!({"plugins": [{
                "id": "hostd.rail-report",
                "version": "1.1.0",
                "previous": "1.0.0",
                "state": "active",
                "routes": 2,
                "grants": [{"org": "01JGZ5V9T3N8W2K4Q7R6D1M0XA", "devices": null, "missing": []}]
            }], "refused": []})
        );
    }
}
