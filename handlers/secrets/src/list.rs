//! `GET /secrets`: names of the organisation's secrets, and what else is known of them; never a value.

use guest::secrets::Secret;
use guest::{ApiError, Openapi, Request, Response, Route, secrets};
use schemars::JsonSchema;
use serde::Serialize;

use crate::secret::{self, Record};

pub(crate) const ROUTE: Route = Route {
    name: "secrets.list",
    method: "GET",
    pattern: "/secrets",
    credentials: secret::CREDENTIALS,
    scope: secret::SEE,
    body_limit: 0,
    summary: "List secrets",
    openapi: Openapi::of(|operation| {
        operation.reply(
            200,
            "The secrets of the organisation by name, without their values, which nobody can read back.",
            &Secrets::of(&[secret::example()]),
        );
    }),
    handle,
};

/// Secrets of an organisation.
#[derive(Serialize, JsonSchema)]
struct Secrets<'a> {
    secrets: Vec<Record<'a>>,
}

impl<'a> Secrets<'a> {
    fn of(secrets: &'a [Secret]) -> Self {
        Self {
            secrets: secrets.iter().map(Into::into).collect(),
        }
    }
}

fn handle(_: &Request) -> Result<Response, ApiError> {
    let found = secrets::list().map_err(|error| secret::refusal(error, ""))?;
    Ok(reply(&found))
}

fn reply(found: &[Secret]) -> Response {
    Response::json(200, &Secrets::of(found))
}

#[cfg(test)]
mod tests {
    use guest::testing::json;
    use serde_json::json;

    #[test]
    fn records() {
        assert_eq!(
            json(&super::reply(&[crate::secret::example()])),
            json!({"secrets": [{
                "name": "CAL_TOKEN",
                "state": "ready",
                "refs": ["main", "release/*"],
                "created_by": "01JGZ5V9T3N8W2K4Q7R6D1M0XA",
                "created_at": "2026-01-02T03:04:05Z",
                "updated_by": "01JGZ5V9T3N8W2K4Q7R6D1M0XA",
                "updated_at": "2026-01-02T03:04:05Z"
            }]})
        );
    }
}
