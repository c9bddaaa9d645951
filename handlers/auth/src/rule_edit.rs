//! `PATCH /github/trust/{id}`: switch a rule off or on, other devices, another life of tokens.

use guest::{ApiError, Object, Request, Response, Route, flag, integer, trust};

use crate::{rule, scope};

pub(crate) const ROUTE: Route = Route {
    name: "trust.update",
    method: "PATCH",
    pattern: "/github/trust/{id}",
    credentials: rule::CREDENTIALS,
    scope: Some(scope::ADMIN),
    body_limit: 16 << 10,
    summary: "Change a trust rule",
    openapi: guest::compact_json!(include_str!("rule_edit.json")),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let edit = parse(request)?;
    let id = rule::id(request);
    let changed = trust::update(id, &edit).map_err(|error| rule::refusal(error, id))?;
    let mut body = Object::new();
    rule::record(&changed, &mut body);
    Ok(body.reply(200))
}

fn parse(request: &Request) -> Result<trust::Edit, ApiError> {
    let mut body = request.json()?;
    let edit = trust::Edit {
        enabled: body.optional("enabled", flag()),
        ttl_seconds: body.optional("ttl_seconds", integer(60..=86_400)),
        devices: body.optional("devices", rule::devices()),
    };
    body.finish()?;
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
