//! `GET /keys`: the caller's keys; admins and owners see all of the organisation.

use guest::{ApiError, Openapi, Request, Response, Route, keys};
use schemars::JsonSchema;
use serde::Serialize;

use crate::key::Key;
use crate::{key, scope};

pub(crate) const ROUTE: Route = Route {
    name: "keys.list",
    method: "GET",
    pattern: "/keys",
    credentials: key::CREDENTIALS,
    scope: Some(scope::ADMIN),
    body_limit: 0,
    summary: "List API keys",
    openapi: Openapi::of(|operation| {
        operation.reply(
            200,
            "The keys, without their secrets.",
            &records(&[key::example()]),
        );
    }),
    handle,
};

/// Keys of an organisation, or of one user.
#[derive(Serialize, JsonSchema)]
struct Keys<'a> {
    keys: Vec<Key<'a>>,
}

fn records(keys: &[keys::Key]) -> Keys<'_> {
    Keys {
        keys: keys.iter().map(Key::of).collect(),
    }
}

fn handle(_: &Request) -> Result<Response, ApiError> {
    let keys = keys::list().map_err(|error| key::refusal(error, ""))?;
    Ok(reply(&keys))
}

fn reply(keys: &[keys::Key]) -> Response {
    Response::json(200, &records(keys))
}

#[cfg(test)]
mod tests {
    use guest::testing::json;
    use serde_json::json;

    #[test]
    fn records() {
        let response = super::reply(&[crate::key::example()]);
        assert_eq!(
            json(&response),
            json!({"keys": [{
                "kid": "k3J9xQ2mVbN0",
                "name": "ci",
                "owner": "01JGZ5V9T3N8W2K4Q7R6D1M0XA",
                "scopes": ["bench:control"],
                "created_at": "2026-01-02T03:04:05Z",
                "last_used_at": null,
                "expires_at": "2027-01-02T03:04:05Z"
            }]})
        );
    }
}
