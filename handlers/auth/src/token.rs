//! `POST /auth/token`: exchange an API key or a user session for a short-lived cloud-session token.

use guest::{
    ApiError, Credential, Openapi, Request, Response, Route, Time, members, session, tokens,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::{device, scope};

/// Most devices that a token may name.
const DEVICES_MAX: usize = 100;

pub(crate) const ROUTE: Route = Route {
    name: "auth.token",
    method: "POST",
    pattern: "/auth/token",
    credentials: &[Credential::ApiKey, Credential::UserSession],
    scope: Some(scope::CONTROL),
    body_limit: 16 << 10,
    summary: "Exchange a key or session for a cloud-session token",
    openapi: Openapi::of(|operation| {
        operation
            .body::<Body>(json!({"devices": ["bench-1"], "ttl_seconds": 900}))
            .body_may_be_absent()
            .reply(
                200,
                "The token, for `Authorization: Bearer` and WebSocket URLs.",
                &Token::of(&tokens::Token {
                    token: "eyJhbGciOiJFZERTQSJ9.e30.c2ln".into(),
                    expires_at: "2026-01-02T03:04:05Z".into(),
                    expires_in: 900,
                }),
            );
    }),
    handle,
};

members! {
    #[derive(Debug, PartialEq)]
    struct Body {
        /// Names of the devices that the token is restricted to; absent = every device of the
        /// organisation.
        devices: Option<Vec<String>> = optional(device::names(DEVICES_MAX)),
        /// Life of the token.
        ttl_seconds: u32 = or(session::ttl_seconds(), session::TTL_SECONDS_DEFAULT),
    }
}

// The only type of token.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub(crate) enum Type {
    Bearer,
}

/// A session token.
#[derive(Serialize, JsonSchema)]
struct Token<'a> {
    /// JWT of type `cloud_session`.
    token: &'a str,
    token_type: Type,
    #[schemars(with = "Time")]
    expires_at: &'a str,
    /// Seconds.
    expires_in: u32,
}

impl<'a> Token<'a> {
    fn of(token: &'a tokens::Token) -> Self {
        Self {
            token: &token.token,
            token_type: Type::Bearer,
            expires_at: &token.expires_at,
            expires_in: token.expires_in,
        }
    }
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let order = parse(request)?;
    tokens::mint(order.devices.as_deref(), order.ttl_seconds)
        .map(|token| reply(&token))
        .map_err(refusal)
}

fn parse(request: &Request) -> Result<Body, ApiError> {
    request.json_or_empty()?.read()
}

fn reply(token: &tokens::Token) -> Response {
    secret(200, &Token::of(token))
}

/// A record with a secret, which no cache on the way may keep.
pub(crate) fn secret<T: Serialize>(status: u16, record: &T) -> Response {
    let mut response = Response::json(status, record);
    let no_store = ("cache-control".to_owned(), "no-store".to_owned());
    response.headers.push(no_store);
    response
}

fn refusal(error: tokens::Error) -> ApiError {
    match error {
        tokens::Error::UnknownDevice(name) => ApiError::not_found("device", &name),
        tokens::Error::Invalid((field, message)) => ApiError::field(field, message),
        tokens::Error::Other(cause) => ApiError::internal(cause),
    }
}

#[cfg(test)]
mod tests {
    use guest::testing::{header, json, mutations, request};
    use guest::{Request, tokens};
    use serde_json::json;

    use super::{Body, parse, refusal, reply};

    #[test]
    fn body_is_optional_and_bounded() {
        let order = |body: &str| parse(&request(body));
        let all = Body {
            devices: None,
            ttl_seconds: 3600,
        };
        assert_eq!(order("").unwrap(), all);
        assert_eq!(order("{}").unwrap(), all);
        assert_eq!(
            order(r#"{"devices":null,"ttl_seconds":3600}"#).unwrap(),
            all
        );
        assert_eq!(order(r#"{"ttl_seconds":60}"#).unwrap().ttl_seconds, 60);
        assert_eq!(
            order(r#"{"ttl_seconds":86400}"#).unwrap().ttl_seconds,
            86400
        );
        assert_eq!(
            order(r#"{"devices":["a","b"]}"#).unwrap().devices.unwrap(),
            ["a", "b"]
        );
        for (body, field) in [
            (r#"{"ttl_seconds":59}"#, "ttl_seconds"),
            (r#"{"ttl_seconds":86401}"#, "ttl_seconds"),
            (r#"{"ttl_seconds":"60"}"#, "ttl_seconds"),
            (r#"{"devices":[]}"#, "devices"),
            (r#"{"devices":"a"}"#, "devices"),
            (r#"{"devices":[1]}"#, "devices"),
            (r#"{"ttl":60}"#, "ttl"),
        ] {
            let error = order(body).unwrap_err();
            assert_eq!((error.status, error.fields[0].field.as_str()), (400, field));
        }
        assert_eq!(order("[]").unwrap_err().status, 400);
    }

    #[test]
    fn reply_has_what_clients_read() {
        let response = reply(&tokens::Token {
            token: "a.b.c".into(),
            expires_at: "2026-01-02T03:04:05Z".into(),
            expires_in: 3600,
        });
        assert_eq!(response.status, 200);
        assert_eq!(header(&response, "cache-control"), Some("no-store"));
        assert_eq!(
            json(&response),
            json!({
                "token": "a.b.c",
                "token_type": "bearer",
                "expires_at": "2026-01-02T03:04:05Z",
                "expires_in": 3600
            })
        );
    }

    #[test]
    fn refusals() {
        let of = |error| {
            let error = refusal(error);
            (error.status, error.code, error.message)
        };
        assert_eq!(
            of(tokens::Error::UnknownDevice("dut-9".into())),
            (404, "not_found", "device not found: dut-9".into())
        );
        let invalid = tokens::Error::Invalid(("ttl_seconds".into(), "must be less".into()));
        assert_eq!(of(invalid).2, "ttl_seconds must be less");
        assert_eq!(of(tokens::Error::Other("disk".into())).0, 500);
    }

    #[test]
    fn mutated_bodies_never_panic() {
        let valid = br#"{"devices":["dut-1","dut-2"],"ttl_seconds":3600}"#;
        mutations(0x70CE, valid, 5000, |body| {
            if let Ok(order) = parse(&Request {
                body: body.to_vec(),
                ..request("")
            }) {
                assert!((60..=86_400).contains(&order.ttl_seconds));
            }
        });
    }
}
