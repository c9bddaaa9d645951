//! `POST /auth/session`: sign in with a password or a one-time code, for once or to be renewed.
//!
//! The session comes as a bearer token for programs and as a cookie for browsers. The cookie is out
//! of reach of scripts, and other sites' requests that change something do not carry it.

use guest::{ApiError, Object, Request, Response, Route, flag, sessions, text};

use crate::token::NO_STORE;

/// Name of the cookie, which the host reads.
const COOKIE: &str = "hostd_session";

/// Longest login, in characters.
const LOGIN_CHARS_MAX: usize = 128;

/// Longest password, in characters. Hashing is deliberately slow, so its input is bounded.
pub(crate) const PASSWORD_CHARS_MAX: usize = 256;

/// Longest one-time code, in characters.
const CODE_CHARS_MAX: usize = 128;

pub(crate) const ROUTE: Route = Route {
    name: "auth.session",
    method: "POST",
    pattern: "/auth/session",
    credentials: &[],
    scope: None,
    body_limit: 4 << 10,
    summary: "Sign in with a password or a one-time code",
    openapi: guest::compact_json!(include_str!("session.json")),
    handle,
};

#[derive(PartialEq)]
struct Order {
    proof: Proof,
    /// Whether the session is to be renewed later.
    keep: bool,
}

#[derive(PartialEq)]
enum Proof {
    Password { login: String, password: String },
    Code(String),
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let Order { proof, keep } = parse(request)?;
    match proof {
        Proof::Password { login, password } => sessions::password(&login, &password, keep),
        Proof::Code(code) => sessions::code(&code, keep),
    }
    .map(|session| reply(&session))
    .map_err(refusal)
}

fn parse(request: &Request) -> Result<Order, ApiError> {
    let mut body = request.json()?;
    let by_code = body.has("code");
    if by_code && (body.has("login") || body.has("password")) {
        return Err(ApiError::field(
            "code",
            "stands alone: give either login and password, or code",
        ));
    }
    let proof = if by_code {
        Proof::Code(body.required("code", text(1..=CODE_CHARS_MAX)))
    } else {
        Proof::Password {
            login: body.required("login", text(1..=LOGIN_CHARS_MAX)),
            password: body.required("password", text(1..=PASSWORD_CHARS_MAX)),
        }
    };
    let keep = body.or("keep", flag(), false);
    body.finish()?;
    Ok(Order { proof, keep })
}

/// The session, as token and as cookie.
pub(crate) fn reply(session: &sessions::Session) -> Response {
    let mut body = Object::new();
    body.field("token", &session.token)
        .field("token_type", "bearer")
        .field("user", &session.user)
        .field("expires_at", &session.expires_at)
        .field("expires_in", &session.expires_in);
    if let Some(renewal) = &session.renewal {
        body.field("refresh_token", &renewal.token)
            .field("refresh_expires_at", &renewal.expires_at)
            .field("refresh_expires_in", &renewal.expires_in)
            .field("session_id", &renewal.id);
    }
    let mut response = body.reply(200);
    let cookie = cookie(&session.token, session.expires_in);
    response.headers.push(("set-cookie".to_owned(), cookie));
    response.headers.push(NO_STORE.map(str::to_owned).into());
    response
}

/// Value of `set-cookie`; no time left takes the cookie away.
pub(crate) fn cookie(token: &str, expires_in_s: u32) -> String {
    format!("{COOKIE}={token}; Max-Age={expires_in_s}; Path=/; HttpOnly; SameSite=Lax")
}

pub(crate) fn refusal(error: sessions::Error) -> ApiError {
    match error {
        sessions::Error::Rejected => ApiError::new(
            401,
            "invalid_credential",
            "the login, password, code or refresh token is wrong, was used before or has expired",
        ),
        sessions::Error::SlowDown(seconds) => ApiError::new(
            429,
            "rate_limited",
            format!("too many attempts; try again in {seconds} s"),
        )
        .retry_after(seconds),
        sessions::Error::Invalid((field, message)) => ApiError::field(field, message),
        sessions::Error::Forbidden(message) => ApiError::forbidden(message),
        sessions::Error::Other(cause) => ApiError::internal(cause),
    }
}

#[cfg(test)]
mod tests {
    use guest::sessions;
    use guest::testing::{header, json, mutations, request};

    use super::{Order, Proof, parse, refusal, reply};

    #[test]
    fn exactly_one_proof() {
        let proof = |body: &str| parse(&request(body));
        assert!(
            proof(r#"{"login":"ada","password":" s p "}"#).unwrap()
                == Order {
                    proof: Proof::Password {
                        login: "ada".into(),
                        password: " s p ".into()
                    },
                    keep: false
                }
        );
        assert!(
            proof(r#"{"code":"ABC","keep":true}"#).unwrap()
                == Order {
                    proof: Proof::Code("ABC".into()),
                    keep: true
                }
        );
        for (body, field) in [
            ("{}", "login"),
            (r#"{"login":"ada"}"#, "password"),
            (r#"{"password":"x"}"#, "login"),
            (r#"{"code":"A","login":"ada"}"#, "code"),
            (r#"{"code":"A","password":"x"}"#, "code"),
            (r#"{"code":""}"#, "code"),
            (r#"{"code":"A","more":1}"#, "more"),
            (r#"{"login":{},"password":"x"}"#, "login"),
            (r#"{"code":"A","keep":1}"#, "keep"),
        ] {
            let Err(error) = proof(body) else {
                panic!("{body} was accepted");
            };
            assert_eq!((error.status, error.fields[0].field.as_str()), (400, field));
        }
        assert!(proof("").is_err_and(|e| e.status == 400));
    }

    #[test]
    fn session_comes_as_token_and_cookie() {
        let response = reply(&sessions::Session {
            token: "abc".into(),
            user: "ada".into(),
            expires_at: "2026-01-02T03:04:05Z".into(),
            expires_in: 600,
            renewal: None,
        });
        assert_eq!(
            header(&response, "set-cookie"),
            Some("hostd_session=abc; Max-Age=600; Path=/; HttpOnly; SameSite=Lax")
        );
        assert_eq!(header(&response, "cache-control"), Some("no-store"));
        let body = json(&response);
        assert_eq!(
            (&body["token"], &body["user"], &body["expires_in"]),
            (&"abc".into(), &"ada".into(), &600.into())
        );
        assert!(body.get("refresh_token").is_none());
    }

    #[test]
    fn refusals_do_not_tell_which_part_was_wrong() {
        let error = refusal(sessions::Error::Rejected);
        assert_eq!((error.status, error.code), (401, "invalid_credential"));
        let error = refusal(sessions::Error::SlowDown(9));
        assert_eq!((error.status, error.retry_after_s), (429, Some(9)));
        assert_eq!(refusal(sessions::Error::Other("disk".into())).status, 500);
    }

    #[test]
    fn mutated_bodies_never_panic_nor_echo_the_password() {
        let valid = br#"{"login":"ada","password":"hunter2hunter2"}"#;
        mutations(0x5E55, valid, 5000, |body| {
            let mut request = request("");
            request.body = body.to_vec();
            if let Err(error) = parse(&request) {
                assert!(!error.message.contains("hunter2hunter2"));
            }
        });
    }
}
