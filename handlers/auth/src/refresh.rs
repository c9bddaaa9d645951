//! `POST /auth/guest/refresh`: exchange a refresh token for a session and the next refresh token.

use guest::{ApiError, Openapi, Refusal, Request, Response, Route, Time, members, sessions, text};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::{session, token};

/// Longest refresh token, in characters.
const TOKEN_CHARS_MAX: usize = 256;

pub(crate) const ROUTE: Route = Route {
    name: "auth.refresh",
    method: "POST",
    pattern: "/auth/guest/refresh",
    credentials: &[],
    scope: None,
    body_limit: 4 << 10,
    summary: "Renew a session",
    openapi: Openapi::of(|operation| {
        operation
            .refusals(&[Refusal::InvalidCredential, Refusal::RateLimited])
            .body::<Ask>(json!({
                "refresh_token": "rt_01JGZ5V9T3N8W2K4Q7R6D1M0XA_4fGk2mXyW0nQ8sBv4fGk2m4fGk2mXyW0nQ8sBv4fGk2m"
            }))
            .reply(
                200,
                "A new session and the next refresh token. The one that was sent is spent; sent again, \
                 it ends the sign-in.",
                &Renewed {
                    access_token: "a.b.c",
                    refresh_token: "rt_01JGZ5V9T3N8W2K4Q7R6D1M0XA_9fGk2mXyW0nQ8sBv4fGk2m4fGk2mXyW0nQ8sBv4fGk2m",
                    access_expires_at: "2026-01-02T04:04:05Z",
                    access_expires_in: 3600,
                    refresh_expires_at: "2026-02-01T03:04:05Z",
                    refresh_expires_in: 2_592_000,
                    session_id: "01JGZ5V9T3N8W2K4Q7R6D1M0XA",
                    user_id: "01JGZ5V9T3N8W2K4Q7R6D1M0XB",
                },
            );
    }),
    handle,
};

members! {
    struct Ask {
        refresh_token: String = required(text(1..=TOKEN_CHARS_MAX)),
    }
}

/// A session that was renewed.
#[derive(Serialize, JsonSchema)]
struct Renewed<'a> {
    /// For `Authorization: Bearer`.
    access_token: &'a str,
    /// For the next renewal, once.
    refresh_token: &'a str,
    #[schemars(with = "Time")]
    access_expires_at: &'a str,
    /// Seconds.
    access_expires_in: u32,
    #[schemars(with = "Time")]
    refresh_expires_at: &'a str,
    /// Seconds.
    refresh_expires_in: u32,
    /// Id of the sign-in, the same over all renewals.
    session_id: &'a str,
    user_id: &'a str,
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let token = parse(request)?;
    let session = sessions::renew(&token).map_err(session::refusal)?;
    reply(&session)
}

fn parse(request: &Request) -> Result<String, ApiError> {
    let ask: Ask = request.json()?.read()?;
    Ok(ask.refresh_token)
}

fn reply(session: &sessions::Session) -> Result<Response, ApiError> {
    let renewal = session.renewal.as_ref();
    let renewal = renewal.ok_or_else(|| ApiError::internal("a renewal without a next token"))?;
    let renewed = Renewed {
        access_token: &session.token,
        refresh_token: &renewal.token,
        access_expires_at: &session.expires_at,
        access_expires_in: session.expires_in,
        refresh_expires_at: &renewal.expires_at,
        refresh_expires_in: renewal.expires_in,
        session_id: &renewal.id,
        user_id: &session.user,
    };
    Ok(token::secret(200, &renewed))
}

#[cfg(test)]
mod tests {
    use guest::sessions::{Renewal, Session};
    use guest::testing::{header, json, request};

    use super::{parse, reply};

    #[test]
    fn reply_has_what_clients_read() {
        let response = reply(&Session {
            token: "a.b.c".into(),
            user: "u".into(),
            expires_at: "2026-01-02T03:04:05Z".into(),
            expires_in: 3600,
            renewal: Some(Renewal {
                token: "rt".into(),
                id: "s".into(),
                expires_at: "2026-02-02T03:04:05Z".into(),
                expires_in: 9,
            }),
            is_remembered: false,
        })
        .unwrap();
        assert_eq!(header(&response, "cache-control"), Some("no-store"));
        let body = json(&response);
        assert_eq!(body["access_token"], "a.b.c");
        assert_eq!(body["refresh_token"], "rt");
        assert_eq!(body["refresh_expires_in"], 9);
    }

    #[test]
    fn the_token_is_needed() {
        for body in ["", "{}", r#"{"refresh_token":1}"#, r#"{"token":"x"}"#] {
            assert_eq!(parse(&request(body)).unwrap_err().status, 400, "{body}");
        }
    }
}
