//! `POST /auth/guest/refresh`: exchange a refresh token for a session and the next refresh token.

use guest::{ApiError, Object, Request, Response, Route, sessions, text};

use crate::session;
use crate::token::NO_STORE;

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
    openapi: guest::compact_json!(include_str!("refresh.json")),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let token = parse(request)?;
    let session = sessions::renew(&token).map_err(session::refusal)?;
    reply(&session)
}

fn parse(request: &Request) -> Result<String, ApiError> {
    let mut body = request.json()?;
    let token = body.required("refresh_token", text(1..=TOKEN_CHARS_MAX));
    body.finish()?;
    Ok(token)
}

fn reply(session: &sessions::Session) -> Result<Response, ApiError> {
    let renewal = session.renewal.as_ref();
    let renewal = renewal.ok_or_else(|| ApiError::internal("a renewal without a next token"))?;
    let mut body = Object::new();
    body.field("access_token", &session.token)
        .field("refresh_token", &renewal.token)
        .field("access_expires_at", &session.expires_at)
        .field("access_expires_in", &session.expires_in)
        .field("refresh_expires_at", &renewal.expires_at)
        .field("refresh_expires_in", &renewal.expires_in)
        .field("session_id", &renewal.id)
        .field("user_id", &session.user);
    let mut response = body.reply(200);
    response.headers.push(NO_STORE.map(str::to_owned).into());
    Ok(response)
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
