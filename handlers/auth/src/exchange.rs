//! `POST /github/oidc/token`: exchange the id-token of a CI run for a session token.

use guest::{
    ApiError, Openapi, Refusal, Request, Response, Route, Time, members, text, tokens, trust,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::{rule, token};

/// Longest id-token, in characters.
const TOKEN_CHARS_MAX: usize = 16 << 10;

pub(crate) const ROUTE: Route = Route {
    name: "auth.github",
    method: "POST",
    pattern: "/github/oidc/token",
    credentials: &[],
    scope: None,
    body_limit: 20 << 10,
    summary: "Exchange a CI run's id-token for a session token",
    openapi: Openapi::of(|operation| {
        operation
            .refusals(&[
                Refusal::InvalidCredential,
                Refusal::NotTrusted,
                Refusal::Ambiguous,
                Refusal::KeysUnavailable,
            ])
            .body::<Ask>(json!({"token": "a.b.c"}))
            .reply(
                200,
                "A session token for the devices of the rule that let the run in.",
                &Exchanged {
                    access_token: "a.b.c",
                    token_type: token::Type::Bearer,
                    expires_at: "2026-01-02T03:04:05Z",
                    expires_in: 3600,
                },
            );
    }),
    handle,
};

members! {
    struct Ask {
        /// Id-token of the CI run.
        token: String = required(text(1..=TOKEN_CHARS_MAX)),
    }
}

/// A session token, as clients of OAuth read it.
#[derive(Serialize, JsonSchema)]
struct Exchanged<'a> {
    /// For `Authorization: Bearer`.
    access_token: &'a str,
    token_type: token::Type,
    #[schemars(with = "Time")]
    expires_at: &'a str,
    /// Seconds.
    expires_in: u32,
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id_token = parse(request)?;
    trust::exchange(&id_token)
        .map(|token| reply(&token))
        .map_err(|error| rule::refusal(error, ""))
}

fn parse(request: &Request) -> Result<String, ApiError> {
    let ask: Ask = request.json()?.read()?;
    Ok(ask.token)
}

fn reply(token: &tokens::Token) -> Response {
    let exchanged = Exchanged {
        access_token: &token.token,
        token_type: token::Type::Bearer,
        expires_at: &token.expires_at,
        expires_in: token.expires_in,
    };
    token::secret(200, &exchanged)
}

#[cfg(test)]
mod tests {
    use guest::testing::request;

    use super::parse;

    #[test]
    fn the_token_is_needed() {
        assert_eq!(parse(&request(r#"{"token":"a.b.c"}"#)).unwrap(), "a.b.c");
        for body in [
            "",
            "{}",
            r#"{"token":""}"#,
            r#"{"token":1}"#,
            r#"{"id":"x"}"#,
        ] {
            assert_eq!(parse(&request(body)).unwrap_err().status, 400, "{body}");
        }
    }
}
