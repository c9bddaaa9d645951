//! `POST /auth/sign-in`, which is `/sign-in` for people: what its forms send, and the way back.
//!
//! The form of a foreign page could sign its reader in as somebody else, so it is refused: browsers say in `Origin` and
//! `Sec-Fetch-Site` which page sends a form.

use guest::sessions::Stay;
use guest::{
    ApiError, Body, Openapi, Query, Refusal, Request, Response, Route, flag, members, page,
    sessions, text,
};
use schemars::json_schema;
use serde_json::json;

use super::{TO_CHARS_MAX, back, form};
use crate::session::{self, CODE_CHARS_MAX, LOGIN_CHARS_MAX, PASSWORD_CHARS_MAX};

/// Media type of a form without files.
const FORM: &str = "application/x-www-form-urlencoded";

pub(crate) const ROUTE: Route = Route {
    name: "auth.sign_in_form",
    method: "POST",
    pattern: "/auth/sign-in",
    credentials: &[],
    scope: None,
    // Each byte of a character takes three once it is encoded.
    body_limit: 32 << 10,
    summary: "Sign in by the form of the page",
    openapi: Openapi::of(|operation| {
        operation
            .description(
                "Sent by the page at `/sign-in`; programs use `POST /auth/session`. A browser gets a refusal as a page, too.",
            )
            .refusals(&[
                Refusal::InvalidCredential,
                Refusal::RateLimited,
                Refusal::Forbidden,
                Refusal::UnsupportedMediaType,
            ])
            .content(
                FORM,
                json_schema!({
                    "type": "object",
                    "properties": {
                        "login": {"type": "string", "maxLength": LOGIN_CHARS_MAX},
                        "password": {"type": "string", "maxLength": PASSWORD_CHARS_MAX},
                        "code": {"type": "string", "maxLength": CODE_CHARS_MAX},
                        "to": {"type": "string", "maxLength": TO_CHARS_MAX},
                        "remember": {"type": "string", "enum": ["true", "false"]}
                    },
                    "additionalProperties": false
                }),
                json!({"login": "ada", "password": "correct horse battery staple", "to": "/"}),
            )
            .reply_empty(303, "Signed in: `Set-Cookie` has the session, `Location` where to go.");
    }),
    handle,
};

members! {
    struct Form {
        login: Option<String> = optional(text(1..=LOGIN_CHARS_MAX)),
        password: Option<String> = optional(text(1..=PASSWORD_CHARS_MAX)),
        code: Option<String> = optional(text(1..=CODE_CHARS_MAX)),
        to: Option<String> = optional(text(1..=TO_CHARS_MAX)),
        remember: bool = or(flag(), false),
    }
}

/// What somebody signs in with.
#[derive(Debug, PartialEq)]
enum Proof {
    Password { login: String, password: String },
    Code(String),
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let Read { proof, to, stay } = match parse(request) {
        Ok(read) => read,
        Err(error) => return refused(request, error, None),
    };
    let session = match &proof {
        Proof::Password { login, password } => sessions::password(login, password, stay),
        Proof::Code(code) => sessions::code(code, stay),
    };
    match session {
        Ok(session) => Ok(entered(&session, to.as_deref())),
        Err(error) => refused(request, session::refusal(error), to.as_deref()),
    }
}

/// The way back, with the session.
fn entered(session: &sessions::Session, to: Option<&str>) -> Response {
    let header = |name: &str, value: String| (name.to_owned(), value);
    Response {
        status: 303,
        headers: vec![
            header("location", back(to).to_owned()),
            header("set-cookie", session::cookie(session)),
            header("cache-control", "no-store".to_owned()),
        ],
        body: Body::Empty,
    }
}

/// The form once more for people, the refusal itself for programs.
fn refused(request: &Request, error: ApiError, to: Option<&str>) -> Result<Response, ApiError> {
    if !page::is_wanted(request) || error.status >= 500 {
        return Err(error);
    }
    let to = to.map(|to| back(Some(to)));
    let mut shown = form(error.status, Some(&error.message), to);
    if let Some(seconds) = error.retry_after_s {
        let header = ("retry-after".to_owned(), seconds.to_string());
        shown.headers.push(header);
    }
    Ok(shown)
}

/// What a form says.
#[derive(Debug)]
struct Read {
    proof: Proof,
    to: Option<String>,
    stay: Stay,
}

fn parse(request: &Request) -> Result<Read, ApiError> {
    check_own(request)?;
    let kind = request.header("content-type").unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case(FORM) {
        return Err(ApiError::of(
            Refusal::UnsupportedMediaType,
            format!("the body must be a form with content-type {FORM}"),
        ));
    }
    let body = std::str::from_utf8(&request.body)
        .map_err(|_| ApiError::invalid("the form is not UTF-8"))?;
    let form: Form = Query::of_form(body)?.read()?;
    let stay = match form.remember {
        true => Stay::Remembered,
        false => Stay::Short,
    };
    let to = form.to.clone();
    let proof = match form {
        Form {
            login: Some(login),
            password: Some(password),
            code: None,
            ..
        } => Proof::Password { login, password },
        Form {
            login: None,
            password: None,
            code: Some(code),
            ..
        } => Proof::Code(code.trim().to_owned()),
        _ => {
            return Err(ApiError::invalid("give either login and password, or code"));
        }
    };
    Ok(Read { proof, to, stay })
}

/// Refuses the form of a page of another origin. A program sends neither header.
fn check_own(request: &Request) -> Result<(), ApiError> {
    let is_foreign = match (request.header("origin"), request.header("sec-fetch-site")) {
        (Some(origin), _) => {
            let host = origin.split_once("://").map(|(_, host)| host);
            host.is_none() || host != request.header("host")
        }
        (None, Some(site)) => !matches!(site, "same-origin" | "none"),
        (None, None) => false,
    };
    match is_foreign {
        true => Err(ApiError::of(
            Refusal::Forbidden,
            "the form comes from a page of another origin; open /sign-in of this server and sign in there",
        )),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use guest::testing::{bytes, header, mutations, request};

    use super::*;

    fn sent(body: &str, headers: &[(&str, &str)]) -> Request {
        let mut request = request(body);
        request.headers = vec![("content-type".to_owned(), FORM.to_owned())];
        let headers = headers.iter();
        request
            .headers
            .extend(headers.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        request
    }

    #[test]
    fn a_password_or_a_code_is_read() {
        let read = |body: &str| {
            let Read { proof, to, stay } = parse(&sent(body, &[])).unwrap();
            (proof, to, stay)
        };
        let (proof, to, stay) = read("login=ada&password=a+b%26c&to=/x&remember=true");
        assert_eq!(stay, Stay::Remembered);
        let password = Proof::Password {
            login: "ada".into(),
            password: "a b&c".into(),
        };
        assert_eq!((proof, to.as_deref()), (password, Some("/x")));
        let (proof, to, stay) = read("code=ABCD-EFGH+");
        assert_eq!((proof, to), (Proof::Code("ABCD-EFGH".into()), None));
        assert_eq!(stay, Stay::Short);
        for wrong in [
            "",
            "login=ada",
            "login=&password=",
            "login=ada&password=b&code=c",
            "code=a&more=b",
            "code=a&remember=maybe",
            "code=%zz",
        ] {
            assert_eq!(parse(&sent(wrong, &[])).unwrap_err().status, 400, "{wrong}");
        }
        let mut other = sent("code=a", &[]);
        other.headers[0].1 = "text/plain".to_owned();
        assert_eq!(parse(&other).unwrap_err().status, 415);
    }

    #[test]
    fn the_form_of_a_foreign_page_is_refused() {
        let own = ("host", "bench.example:8800");
        for headers in [
            &[own, ("origin", "https://bench.example:8800")][..],
            &[own, ("sec-fetch-site", "same-origin")],
            &[own],
        ] {
            assert!(parse(&sent("code=a", headers)).is_ok(), "{headers:?}");
        }
        for headers in [
            &[own, ("origin", "https://evil.example")][..],
            &[own, ("origin", "null")],
            &[own, ("origin", "https://bench.example")],
            &[own, ("sec-fetch-site", "cross-site")],
            &[own, ("sec-fetch-site", "same-site")],
            &[("origin", "https://bench.example:8800")],
        ] {
            let error = parse(&sent("code=a", headers)).unwrap_err();
            assert_eq!(
                (error.status, error.code),
                (403, "forbidden"),
                "{headers:?}"
            );
        }
    }

    #[test]
    fn a_session_leads_back_and_a_refusal_to_the_form() {
        let session = sessions::Session {
            token: "abc".into(),
            user: "ada".into(),
            expires_at: "2026-01-02T03:04:05Z".into(),
            expires_in: 600,
            renewal: None,
            is_remembered: false,
        };
        let answer = entered(&session, Some("/api/jobs/x/report"));
        assert_eq!(answer.status, 303);
        assert_eq!(header(&answer, "location"), Some("/api/jobs/x/report"));
        let cookie = header(&answer, "set-cookie").unwrap();
        assert!(cookie.starts_with("hostd_session=abc; ") && cookie.contains("HttpOnly"));
        assert_eq!(
            header(&entered(&session, Some("//evil")), "location"),
            Some("/")
        );
        let error = || session::refusal(sessions::Error::SlowDown(9));
        let person = sent("", &[("accept", "text/html")]);
        let shown = refused(&person, error(), Some("/x")).unwrap();
        assert_eq!(
            (shown.status, header(&shown, "retry-after")),
            (429, Some("9"))
        );
        let text = String::from_utf8_lossy(bytes(&shown)).into_owned();
        assert!(text.contains("try again in 9 s") && text.contains("value=\"/x\""));
        assert!(refused(&sent("", &[]), error(), None).is_err());
    }

    #[test]
    fn mutated_forms_never_panic() {
        let valid = b"login=ada&password=hunter2hunter2&to=%2Fapi%2Fjobs";
        mutations(0x51_61, valid, 5000, |body| {
            let mut request = sent("", &[("accept", "text/html")]);
            request.body = body.to_vec();
            if let Err(error) = parse(&request) {
                assert!((400..500).contains(&error.status), "{error:?}");
            }
        });
    }
}
