//! `POST /keys`: a new API key. Its secret is in this reply and nowhere else.

use guest::{ApiError, Openapi, Request, Response, Route, integer, keys, members};
use serde_json::json;

use crate::key::NewKey;
use crate::{key, scope, token};

/// Shortest life of a key that expires, in seconds.
const TTL_SECONDS_MIN: u64 = 60;

/// Longest life of a key that expires: ten years.
const TTL_SECONDS_MAX: u64 = 315_360_000;

pub(crate) const ROUTE: Route = Route {
    name: "keys.create",
    method: "POST",
    pattern: "/keys",
    credentials: key::CREDENTIALS,
    scope: Some(scope::ADMIN),
    body_limit: 4 << 10,
    summary: "Create an API key",
    openapi: Openapi::of(|operation| {
        let secret = "bk_k3J9xQ2mVbN0_5T8cYdR1uZpL7wHfA6eGnX0b";
        operation
            .body::<Body>(
                json!({"name": "ci", "scopes": ["bench:control"], "ttl_seconds": 31_536_000}),
            )
            .reply(
                201,
                "The key with its secret.",
                &NewKey::of(&key::example(), secret),
            );
    }),
    handle,
};

members! {
    #[derive(Debug, PartialEq)]
    struct Body {
        name: String = required(key::name()),
        scopes: Vec<String> = required(scope::shape()),
        /// Life of the key; absent = it does not expire.
        ttl_seconds: Option<u64> = optional(integer(TTL_SECONDS_MIN..=TTL_SECONDS_MAX)),
    }
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let order = parse(request)?;
    keys::create(&order.name, &order.scopes, order.ttl_seconds)
        .map(|created| reply(&created))
        .map_err(|error| key::refusal(error, ""))
}

fn parse(request: &Request) -> Result<Body, ApiError> {
    request.json()?.read()
}

fn reply(created: &keys::Created) -> Response {
    token::secret(201, &NewKey::of(&created.key, &created.secret))
}

#[cfg(test)]
mod tests {
    use guest::keys;
    use guest::testing::{header, json, mutations, request};

    use super::{Body, parse, reply};

    #[test]
    fn body() {
        assert_eq!(
            parse(&request(
                r#"{"name":"ci","scopes":["benchpod:control"],"ttl_seconds":60}"#
            ))
            .unwrap(),
            Body {
                name: "ci".into(),
                scopes: vec!["bench:control".into()],
                ttl_seconds: Some(60)
            }
        );
        for (body, field) in [
            (r#"{"scopes":["jobs:submit"]}"#, "name"),
            (r#"{"name":"ci"}"#, "scopes"),
            (
                r#"{"name":"ci","scopes":["jobs:submit"],"ttl_seconds":0}"#,
                "ttl_seconds",
            ),
            (r#"{"name":"ci","scopes":["jobs:submit"],"kid":"x"}"#, "kid"),
            (r#"{"name":"a\nb","scopes":["jobs:submit"]}"#, "name"),
        ] {
            let error = parse(&request(body)).unwrap_err();
            assert_eq!((error.status, error.fields[0].field.as_str()), (400, field));
        }
    }

    #[test]
    fn the_secret_is_shown_and_not_cached() {
        let response = reply(&keys::Created {
            key: crate::key::example(),
            secret: "bk_k3J9xQ2mVbN0_s".into(),
        });
        assert_eq!(response.status, 201);
        assert_eq!(header(&response, "cache-control"), Some("no-store"));
        assert_eq!(json(&response)["secret"], "bk_k3J9xQ2mVbN0_s");
        assert_eq!(json(&response)["kid"], "k3J9xQ2mVbN0");
    }

    #[test]
    fn mutated_bodies_never_panic() {
        let valid = br#"{"name":"ci","scopes":["jobs:submit"],"ttl_seconds":3600}"#;
        mutations(0xC0DE, valid, 5000, |body| {
            let mut request = request("");
            request.body = body.to_vec();
            if let Ok(order) = parse(&request) {
                assert!(!order.scopes.is_empty() && !order.name.is_empty());
            }
        });
    }
}
