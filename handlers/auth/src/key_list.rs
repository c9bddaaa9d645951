//! `GET /keys`: the caller's keys; admins and owners see all of the organisation.

use guest::{ApiError, Object, Request, Response, Route, keys};

use crate::{key, scope};

pub(crate) const ROUTE: Route = Route {
    name: "keys.list",
    method: "GET",
    pattern: "/keys",
    credentials: key::CREDENTIALS,
    scope: Some(scope::ADMIN),
    body_limit: 0,
    summary: "List API keys",
    openapi: guest::compact_json!(
        r#"{"responses":{"200":{"description":"The keys, without their secrets.","content":{"application/json":{"schema":{"type":"object","required":["keys"],"properties":{"keys":{"type":"array","items":"#,
        include_str!("key.schema.json"),
        r#"}}},"example":{"keys":["#,
        include_str!("key.example.json"),
        "]}}}}}}",
    ),
    handle,
};

fn handle(_: &Request) -> Result<Response, ApiError> {
    let keys = keys::list().map_err(|error| key::refusal(error, ""))?;
    Ok(reply(&keys))
}

fn reply(keys: &[keys::Key]) -> Response {
    let mut body = Object::new();
    body.array("keys", keys, key::record);
    body.reply(200)
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
