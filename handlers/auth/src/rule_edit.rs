//! `PATCH /github/trust/{id}`: switch a rule off or on, or change its devices or the life of its
//! tokens.

use guest::{ApiError, Openapi, Request, Response, Route, flag, members, session, trust};
use serde_json::json;

use crate::{rule, scope};

pub(crate) const ROUTE: Route = Route {
    name: "trust.update",
    method: "PATCH",
    pattern: "/github/trust/{id}",
    credentials: rule::CREDENTIALS,
    scope: Some(scope::ADMIN),
    body_limit: 16 << 10,
    summary: "Change a trust rule",
    openapi: Openapi::of(|operation| {
        let off = trust::Rule {
            enabled: false,
            ..rule::example()
        };
        rule::describe_id(operation);
        operation.body::<Ask>(json!({"enabled": false})).reply(
            200,
            "The rule as it is now. What it let in before follows.",
            &rule::Record::from(&off),
        );
    }),
    handle,
};

members! {
    struct Ask {
        enabled: Option<bool> = optional(flag()),
        /// Life of the session tokens.
        ttl_seconds: Option<u32> = optional(session::ttl_seconds()),
        /// Device names, in place of those before.
        devices: Option<Vec<String>> = optional(rule::devices()),
    }
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let edit = parse(request)?;
    let id = rule::id(request);
    let changed = trust::update(id, &edit).map_err(|error| rule::refusal(error, id))?;
    Ok(Response::json(200, &rule::Record::from(&changed)))
}

fn parse(request: &Request) -> Result<trust::Edit, ApiError> {
    let ask: Ask = request.json()?.read()?;
    let edit = trust::Edit {
        enabled: ask.enabled,
        ttl_seconds: ask.ttl_seconds,
        devices: ask.devices,
    };
    if edit.enabled.is_none() && edit.ttl_seconds.is_none() && edit.devices.is_none() {
        return Err(ApiError::invalid("give enabled, ttl_seconds or devices"));
    }
    Ok(edit)
}

#[cfg(test)]
mod tests {
    use guest::testing::request;

    use super::parse;

    #[test]
    fn something_must_change() {
        assert_eq!(
            parse(&request(r#"{"enabled":false}"#)).unwrap().enabled,
            Some(false)
        );
        for body in ["", "{}", r#"{"devices":[]}"#, r#"{"repository":"a/b"}"#] {
            assert_eq!(parse(&request(body)).unwrap_err().status, 400, "{body}");
        }
    }
}
