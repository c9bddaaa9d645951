//! `POST /github/trust`: let the runs of a repository in.

use guest::{ApiError, Object, Request, Response, Route, integer, text, trust};

use crate::{rule, scope};

/// Longest repository, ref or environment, in characters.
const TEXT_CHARS_MAX: usize = 255;

/// Life of a session token when the rule does not say, in seconds.
const TTL_SECONDS_DEFAULT: u32 = 3600;

pub(crate) const ROUTE: Route = Route {
    name: "trust.create",
    method: "POST",
    pattern: "/github/trust",
    credentials: rule::CREDENTIALS,
    scope: Some(scope::ADMIN),
    body_limit: 16 << 10,
    summary: "Let CI runs of a repository in",
    openapi: guest::compact_json!(include_str!("rule_create.json")),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let new = parse(request)?;
    let made = trust::create(&new).map_err(|error| rule::refusal(error, ""))?;
    let mut body = Object::new();
    rule::record(&made, &mut body);
    Ok(body.reply(201))
}

fn parse(request: &Request) -> Result<trust::NewRule, ApiError> {
    let mut body = request.json()?;
    let new = trust::NewRule {
        repository: body.required("repository", text(3..=TEXT_CHARS_MAX)),
        ref_: body.optional("ref", text(1..=TEXT_CHARS_MAX)),
        environment: body.optional("environment", text(1..=TEXT_CHARS_MAX)),
        devices: body.optional("devices", rule::devices()),
        ttl_seconds: body.or("ttl_seconds", integer(60..=86_400), TTL_SECONDS_DEFAULT),
    };
    body.finish()?;
    Ok(new)
}

#[cfg(test)]
mod tests {
    use guest::testing::request;

    use super::parse;

    #[test]
    fn body() {
        let new = parse(&request(r#"{"repository":"a/b"}"#)).unwrap();
        assert_eq!((new.ttl_seconds, new.devices, new.ref_), (3600, None, None));
        for (body, field) in [
            ("{}", "repository"),
            (r#"{"repository":"a/b","devices":[]}"#, "devices"),
            (r#"{"repository":"a/b","ttl_seconds":59}"#, "ttl_seconds"),
            (r#"{"repository":"a/b","ref":""}"#, "ref"),
            (r#"{"repository":"a/b","branch":"x"}"#, "branch"),
        ] {
            let error = parse(&request(body)).unwrap_err();
            assert_eq!((error.status, error.fields[0].field.as_str()), (400, field));
        }
    }
}
