//! `POST /auth/session`: sign in with a password or a one-time code, once or with renewal.
//!
//! The session comes as a bearer token for programs and as a cookie for browsers. Scripts cannot
//! read the cookie, and requests from other sites that change something do not carry it.

use guest::sessions::Stay;
use guest::{
    ApiError, Members, Openapi, Refusal, Request, Response, Route, Shape, Time, flag, members,
    sessions, text,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::token;

/// Name of the cookie, which the host reads.
const COOKIE: &str = "hostd_session";

/// Longest login, in characters.
pub(crate) const LOGIN_CHARS_MAX: usize = 128;

/// Longest password, in characters. Hashing is deliberately slow, so its input is bounded.
pub(crate) const PASSWORD_CHARS_MAX: usize = 256;

/// Longest one-time code, in characters.
pub(crate) const CODE_CHARS_MAX: usize = 128;

pub(crate) const ROUTE: Route = Route {
    name: "auth.session",
    method: "POST",
    pattern: "/auth/session",
    credentials: &[],
    scope: None,
    body_limit: 4 << 10,
    summary: "Sign in with a password or a one-time code",
    openapi: Openapi::of(|operation| {
        operation
            .refusals(&[Refusal::InvalidCredential, Refusal::RateLimited])
            .body_of(
                [ByPassword::schema(), ByCode::schema()],
                json!({"login": "ada", "password": "correct horse battery staple"}),
            )
            .reply(
                200,
                "The session. The header `set-cookie` carries it for browsers.",
                &Record::from(&example()),
            );
    }),
    handle,
};

members! {
    struct ByPassword {
        login: String = required(text(1..=LOGIN_CHARS_MAX)),
        password: String = required(password()),
        kept: Kept = inline(),
    }
}

members! {
    struct ByCode {
        /// One-time code from the command line.
        code: String = required(text(1..=CODE_CHARS_MAX)),
        kept: Kept = inline(),
    }
}

members! {
    struct Kept {
        /// Whether the session can be renewed with a refresh token, for programs.
        keep: bool = or(flag(), false),
        /// Whether a browser stays signed in for `auth.remember_days`; otherwise its cookie ends with it. Stands without `keep`.
        remember: bool = or(flag(), false),
    }
}

pub(crate) fn password() -> impl Shape<Value = String> {
    text(1..=PASSWORD_CHARS_MAX)
}

#[derive(PartialEq)]
struct Body {
    proof: Proof,
    stay: Stay,
}

#[derive(PartialEq)]
enum Proof {
    Password { login: String, password: String },
    Code(String),
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let Body { proof, stay } = parse(request)?;
    match proof {
        Proof::Password { login, password } => sessions::password(&login, &password, stay),
        Proof::Code(code) => sessions::code(&code, stay),
    }
    .map(|session| reply(&session))
    .map_err(refusal)
}

fn parse(request: &Request) -> Result<Body, ApiError> {
    let body = request.json()?;
    if !body.has("code") {
        let ask: ByPassword = body.read()?;
        let proof = Proof::Password {
            login: ask.login,
            password: ask.password,
        };
        let stay = ask.kept.stay()?;
        return Ok(Body { proof, stay });
    }
    if body.has("login") || body.has("password") {
        return Err(ApiError::field(
            "code",
            "stands alone: give either login and password, or code",
        ));
    }
    let ask: ByCode = body.read()?;
    Ok(Body {
        proof: Proof::Code(ask.code),
        stay: ask.kept.stay()?,
    })
}

impl Kept {
    fn stay(&self) -> Result<Stay, ApiError> {
        match (self.keep, self.remember) {
            (false, false) => Ok(Stay::Short),
            (true, false) => Ok(Stay::Renewed),
            (false, true) => Ok(Stay::Remembered),
            (true, true) => Err(ApiError::field("remember", "stands without keep")),
        }
    }
}

/// A session of a person.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Session")]
pub(crate) struct Record<'a> {
    /// For `Authorization: Bearer`.
    token: &'a str,
    token_type: token::Type,
    user: &'a str,
    #[schemars(with = "Time")]
    expires_at: &'a str,
    /// Seconds.
    expires_in: u32,
    /// For `POST /auth/guest/refresh`, once; only with `keep`.
    #[serde(skip_serializing_if = "Option::is_none")]
    refresh_token: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Time>")]
    refresh_expires_at: Option<&'a str>,
    /// Seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    refresh_expires_in: Option<u32>,
    /// Id of the sign-in, the same over all renewals.
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<&'a str>,
}

impl<'a> From<&'a sessions::Session> for Record<'a> {
    fn from(session: &'a sessions::Session) -> Self {
        let renewal = session.renewal.as_ref();
        Self {
            token: &session.token,
            token_type: token::Type::Bearer,
            user: &session.user,
            expires_at: &session.expires_at,
            expires_in: session.expires_in,
            refresh_token: renewal.map(|renewal| renewal.token.as_str()),
            refresh_expires_at: renewal.map(|renewal| renewal.expires_at.as_str()),
            refresh_expires_in: renewal.map(|renewal| renewal.expires_in),
            session_id: renewal.map(|renewal| renewal.id.as_str()),
        }
    }
}

/// A session, for the documentation.
pub(crate) fn example() -> sessions::Session {
    sessions::Session {
        token: "us_4fGk2mXyW0nQ8sBv".into(),
        user: "01JGZ5V9T3N8W2K4Q7R6D1M0XA".into(),
        expires_at: "2026-01-02T03:04:05Z".into(),
        expires_in: 43_200,
        renewal: None,
        is_remembered: false,
    }
}

/// The session, as token and as cookie.
pub(crate) fn reply(session: &sessions::Session) -> Response {
    let mut response = token::secret(200, &Record::from(session));
    let cookie = cookie(session);
    response.headers.push(("set-cookie".to_owned(), cookie));
    response
}

/// What all cookies of sessions have. The host adds what those have that came by HTTPS.
const ATTRIBUTES: &str = "Path=/; HttpOnly; SameSite=Lax";

/// Value of `set-cookie`. A browser forgets one without an age when it is closed.
pub(crate) fn cookie(session: &sessions::Session) -> String {
    let token = &session.token;
    match session.is_remembered {
        true => {
            let seconds = session.expires_in;
            format!("{COOKIE}={token}; Max-Age={seconds}; {ATTRIBUTES}")
        }
        false => format!("{COOKIE}={token}; {ATTRIBUTES}"),
    }
}

/// Value of `set-cookie` that removes the cookie.
pub(crate) fn no_cookie() -> String {
    format!("{COOKIE}=; Max-Age=0; {ATTRIBUTES}")
}

pub(crate) fn refusal(error: sessions::Error) -> ApiError {
    match error {
        sessions::Error::Rejected => ApiError::of(
            Refusal::InvalidCredential,
            "the login, password, code or refresh token is wrong, was used before or has expired",
        ),
        sessions::Error::SlowDown(seconds) => ApiError::of(
            Refusal::RateLimited,
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

    use super::{Body, Proof, Stay, parse, refusal, reply};

    #[test]
    fn exactly_one_proof() {
        let proof = |body: &str| parse(&request(body));
        assert!(
            proof(r#"{"login":"ada","password":" s p "}"#).unwrap()
                == Body {
                    proof: Proof::Password {
                        login: "ada".into(),
                        password: " s p ".into()
                    },
                    stay: Stay::Short
                }
        );
        assert!(
            proof(r#"{"code":"ABC","keep":true}"#).unwrap()
                == Body {
                    proof: Proof::Code("ABC".into()),
                    stay: Stay::Renewed
                }
        );
        let remembered = proof(r#"{"code":"ABC","remember":true,"keep":false}"#);
        assert!(remembered.unwrap().stay == Stay::Remembered);
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
            (r#"{"code":"A","remember":1}"#, "remember"),
            (r#"{"code":"A","remember":true,"keep":true}"#, "remember"),
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
        let mut session = sessions::Session {
            token: "abc".into(),
            user: "ada".into(),
            expires_at: "2026-01-02T03:04:05Z".into(),
            expires_in: 600,
            renewal: None,
            is_remembered: false,
        };
        let response = reply(&session);
        assert_eq!(
            header(&response, "set-cookie"),
            Some("hostd_session=abc; Path=/; HttpOnly; SameSite=Lax")
        );
        session.is_remembered = true;
        assert_eq!(
            header(&reply(&session), "set-cookie"),
            Some("hostd_session=abc; Max-Age=600; Path=/; HttpOnly; SameSite=Lax")
        );
        assert_eq!(header(&response, "cache-control"), Some("no-store"));
        let body = json(&response);
        assert_eq!(
            (&body["token"], &body["user"], &body["expires_in"]),
            (&"abc".into(), &"ada".into(), &600.into())
        );
        assert_eq!(body.as_object().unwrap().len(), 5);
        session.renewal = Some(sessions::Renewal {
            token: "rt".into(),
            id: "s".into(),
            expires_at: "2026-02-02T03:04:05Z".into(),
            expires_in: 9,
        });
        let body = json(&reply(&session));
        assert_eq!(
            (
                &body["refresh_token"],
                &body["refresh_expires_in"],
                &body["session_id"]
            ),
            (&"rt".into(), &9.into(), &"s".into())
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
