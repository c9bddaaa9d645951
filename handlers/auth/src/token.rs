//! `POST /auth/token`: exchange an API key or a user session for a short-lived cloud-session token.

use guest::{
    ApiError, Credential, Object, Request, Response, Route, Shape, integer, list, text, tokens,
};

use crate::scope;

/// Life of a token when the caller does not say, in seconds.
const TTL_SECONDS_DEFAULT: u32 = 3600;

/// Shortest life. Published clients renew below 120 s, so shorter ones help nobody.
const TTL_SECONDS_MIN: u32 = 60;

/// Longest life: a day.
const TTL_SECONDS_MAX: u32 = 86_400;

/// Most devices that a token may name.
const DEVICES_MAX: usize = 100;

/// Longest device name.
const DEVICE_NAME_CHARS_MAX: usize = 64;

pub(crate) const ROUTE: Route = Route {
    name: "auth.token",
    method: "POST",
    pattern: "/auth/token",
    credentials: &[Credential::ApiKey, Credential::UserSession],
    scope: Some(scope::CONTROL),
    body_limit: 16 << 10,
    summary: "Exchange a key or session for a cloud-session token",
    openapi: guest::compact_json!(include_str!("token.json")),
    handle,
};

#[derive(Debug, PartialEq)]
struct Order {
    /// Names; none = every device of the organisation.
    devices: Option<Vec<String>>,
    ttl_seconds: u32,
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let order = parse(request)?;
    tokens::mint(order.devices.as_deref(), order.ttl_seconds)
        .map(|token| reply(&token))
        .map_err(refusal)
}

fn parse(request: &Request) -> Result<Order, ApiError> {
    let mut body = request.json_or_empty()?;
    let order = Order {
        devices: body.optional("devices", devices()),
        ttl_seconds: body.or(
            "ttl_seconds",
            integer(TTL_SECONDS_MIN..=TTL_SECONDS_MAX),
            TTL_SECONDS_DEFAULT,
        ),
    };
    body.finish()?;
    Ok(order)
}

/// A token for no device at all is surely a mistake, so the list must not be empty.
fn devices() -> impl Shape<Value = Vec<String>> {
    list(text(1..=DEVICE_NAME_CHARS_MAX), 1..=DEVICES_MAX)
}

fn reply(token: &tokens::Token) -> Response {
    let mut body = Object::new();
    body.field("token", &token.token)
        .field("token_type", "bearer")
        .field("expires_at", &token.expires_at)
        .field("expires_in", &token.expires_in);
    let mut response = body.reply(200);
    response.headers.push(NO_STORE.map(str::to_owned).into());
    response
}

/// A secret must not stay in a cache on its way.
pub(crate) const NO_STORE: [&str; 2] = ["cache-control", "no-store"];

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

    use super::{Order, parse, refusal, reply};

    #[test]
    fn body_is_optional_and_bounded() {
        let order = |body: &str| parse(&request(body));
        let all = Order {
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
