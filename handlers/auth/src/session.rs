//! `POST /auth/session`: sign in with a password or a one-time code.
//!
//! The session comes as a bearer token for programs and as a cookie for browsers. The cookie is out
//! of reach of scripts, and other sites' requests that change something do not carry it.

use guest::{ApiError, Object, Request, Response, Route, sessions, text};

use crate::token::NO_STORE;

/// Name of the cookie, which the host reads.
const COOKIE: &str = "hostd_session";

/// Longest login, in characters.
const LOGIN_CHARS_MAX: usize = 128;

/// Longest password, in characters. Hashing is deliberately slow, so its input is bounded.
const PASSWORD_CHARS_MAX: usize = 256;

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
enum Proof {
    Password { login: String, password: String },
    Code(String),
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    match parse(request)? {
        Proof::Password { login, password } => sessions::password(&login, &password),
        Proof::Code(code) => sessions::code(&code),
    }
    .map(|session| reply(&session))
    .map_err(refusal)
}

fn parse(request: &Request) -> Result<Proof, ApiError> {
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
    body.finish()?;
    Ok(proof)
}

fn reply(session: &sessions::Session) -> Response {
    let mut body = Object::new();
    body.field("token", &session.token)
        .field("token_type", "bearer")
        .field("user", &session.user)
        .field("expires_at", &session.expires_at)
        .field("expires_in", &session.expires_in);
    let mut response = body.reply(200);
    let cookie = format!(
        "{COOKIE}={}; Max-Age={}; Path=/; HttpOnly; SameSite=Lax",
        session.token, session.expires_in
    );
    response.headers.push(("set-cookie".to_owned(), cookie));
    response.headers.push(NO_STORE.map(str::to_owned).into());
    response
}

fn refusal(error: sessions::Error) -> ApiError {
    match error {
        sessions::Error::Rejected => ApiError::new(
            401,
            "invalid_credential",
            "the login, password or code is wrong, or the code was used or has expired",
        ),
        sessions::Error::SlowDown(seconds) => ApiError::new(
            429,
            "rate_limited",
            format!("too many attempts; try again in {seconds} s"),
        )
        .retry_after(seconds),
        sessions::Error::Other(cause) => ApiError::internal(cause),
    }
}

#[cfg(test)]
mod tests {
    use guest::sessions;
    use guest::testing::{header, json, mutations, request};

    use super::{Proof, parse, refusal, reply};

    #[test]
    fn exactly_one_proof() {
        let proof = |body: &str| parse(&request(body));
        assert!(
            proof(r#"{"login":"ada","password":" s p "}"#).unwrap()
                == Proof::Password {
                    login: "ada".into(),
                    password: " s p ".into()
                }
        );
        assert!(proof(r#"{"code":"ABC"}"#).unwrap() == Proof::Code("ABC".into()));
        for (body, field) in [
            ("{}", "login"),
            (r#"{"login":"ada"}"#, "password"),
            (r#"{"password":"x"}"#, "login"),
            (r#"{"code":"A","login":"ada"}"#, "code"),
            (r#"{"code":"A","password":"x"}"#, "code"),
            (r#"{"code":""}"#, "code"),
            (r#"{"code":"A","more":1}"#, "more"),
            (r#"{"login":{},"password":"x"}"#, "login"),
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
