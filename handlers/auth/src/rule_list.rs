//! `GET /github/trust`: the trust rules of the organisation.

use guest::{ApiError, Object, Request, Response, Route, trust};

use crate::{rule, scope};

pub(crate) const ROUTE: Route = Route {
    name: "trust.list",
    method: "GET",
    pattern: "/github/trust",
    credentials: rule::CREDENTIALS,
    scope: Some(scope::ADMIN),
    body_limit: 0,
    summary: "List trust rules for CI",
    openapi: guest::compact_json!(
        r#"{"responses":{"200":{"description":"The rules, oldest first; the oldest that fits a run counts.","content":{"application/json":{"schema":{"type":"object","required":["rules"],"properties":{"rules":{"type":"array","items":"#,
        include_str!("rule.schema.json"),
        r#"}}},"example":{"rules":["#,
        include_str!("rule.example.json"),
        "]}}}}}}",
    ),
    handle,
};

fn handle(_: &Request) -> Result<Response, ApiError> {
    let rules = trust::list().map_err(|error| rule::refusal(error, ""))?;
    let mut body = Object::new();
    body.array("rules", &rules, rule::record);
    Ok(body.reply(200))
}
