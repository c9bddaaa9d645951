//! `POST /github/trust`: let in the CI runs of a repository.

use guest::{
    ApiError, Like, Openapi, Request, Response, Route, alike, members, session, text, trust,
};
use serde_json::json;

use crate::{rule, scope};

/// Longest repository, ref or environment, in characters.
const TEXT_CHARS_MAX: usize = 255;

pub(crate) const ROUTE: Route = Route {
    name: "trust.create",
    method: "POST",
    pattern: "/github/trust",
    credentials: rule::CREDENTIALS,
    scope: Some(scope::ADMIN),
    body_limit: 16 << 10,
    summary: "Let CI runs of a repository in",
    openapi: Openapi::of(|operation| {
        operation
            .body::<Ask>(json!({
                "repository": "acme/blinky",
                "ref": "refs/heads/main",
                "devices": ["bench-1"],
                "ttl_seconds": 3600
            }))
            .reply(201, "The rule.", &rule::Record::from(&rule::example()));
    }),
    handle,
};

members! {
    struct Ask {
        /// `owner/name`, or `owner/*` for all of an owner's.
        repository: String = required(alike(3..=TEXT_CHARS_MAX, &REPOSITORY)),
        /// Full ref such as `refs/heads/main`; `*` stands for anything. Left out = every ref.
        r#ref: Option<String> = optional(alike(1..=TEXT_CHARS_MAX, &REF)),
        /// Deployment environment that the run must name.
        environment: Option<String> = optional(text(1..=TEXT_CHARS_MAX)),
        /// Device names; left out = every device.
        devices: Option<Vec<String>> = optional(rule::devices()),
        /// Life of the session tokens.
        ttl_seconds: u32 = or(session::ttl_seconds(), session::TTL_SECONDS_DEFAULT),
    }
}

/// Repositories as GitHub names them.
static REPOSITORY: Like = Like {
    pattern: r"^[A-Za-z0-9._-]+/(\*|[A-Za-z0-9._-]+)$",
    fits: |text| {
        let is_name = |name: &str| {
            let plain = |b: u8| b.is_ascii_alphanumeric() || b"._-".contains(&b);
            !name.is_empty() && name.bytes().all(plain)
        };
        text.split_once('/')
            .is_some_and(|(owner, name)| is_name(owner) && (name == "*" || is_name(name)))
    },
    rule: "must be owner/name or owner/*",
    example: "acme/blinky",
};

static REF: Like = Like {
    pattern: r"^refs/[^\u0000-\u001f\u007f-\u009f]*$",
    fits: |text| text.starts_with("refs/"),
    rule: "must be a full ref such as refs/heads/main or refs/heads/release/*",
    example: "refs/heads/main",
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let new = parse(request)?;
    let made = trust::create(&new).map_err(|error| rule::refusal(error, ""))?;
    Ok(Response::json(201, &rule::Record::from(&made)))
}

fn parse(request: &Request) -> Result<trust::NewRule, ApiError> {
    let ask: Ask = request.json()?.read()?;
    Ok(trust::NewRule {
        repository: ask.repository,
        ref_: ask.r#ref,
        environment: ask.environment,
        devices: ask.devices,
        ttl_seconds: ask.ttl_seconds,
    })
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
