//! `POST /github/oidc/token`: exchange the id-token of a CI run for a session token.

use guest::{ApiError, Object, Request, Response, Route, text, tokens, trust};

use crate::rule;
use crate::token::NO_STORE;

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
    openapi: guest::compact_json!(include_str!("exchange.json")),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id_token = parse(request)?;
    trust::exchange(&id_token)
        .map(|token| reply(&token))
        .map_err(|error| rule::refusal(error, ""))
}

fn parse(request: &Request) -> Result<String, ApiError> {
    let mut body = request.json()?;
    let token = body.required("token", text(1..=TOKEN_CHARS_MAX));
    body.finish()?;
    Ok(token)
}

fn reply(token: &tokens::Token) -> Response {
    let mut body = Object::new();
    body.field("access_token", &token.token)
        .field("token_type", "bearer")
        .field("expires_at", &token.expires_at)
        .field("expires_in", &token.expires_in);
    let mut response = body.reply(200);
    response.headers.push(NO_STORE.map(str::to_owned).into());
    response
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
