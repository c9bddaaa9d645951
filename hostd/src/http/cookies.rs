//! The session's cookie where the client came by HTTPS: under a name that only this host can set, and never sent without
//! encryption. Handlers do not know how the client came.

use http::header::SET_COOKIE;
use http::{HeaderMap, HeaderValue};
use identity::{COOKIE_NAME, SECURE_COOKIE_NAME};

/// What the secure one has besides.
const SECURE: &str = "; Secure";

/// Removes the cookie of the plain name, which a connection without encryption may have left.
const NO_PLAIN: &str = "hostd_session=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax; Secure";

/// Turns the session's cookies that an answer sets into secure ones. Others stay as they are.
pub(super) fn secure(headers: &mut HeaderMap) {
    let is_session = |value: &HeaderValue| session_of(value).is_some();
    if !headers.get_all(SET_COOKIE).iter().any(is_session) {
        return;
    }
    let values: Vec<HeaderValue> = headers.get_all(SET_COOKIE).iter().cloned().collect();
    headers.remove(SET_COOKIE);
    for value in values {
        let secured = session_of(&value)
            .and_then(|rest| format!("{SECURE_COOKIE_NAME}={rest}{SECURE}").parse().ok());
        match secured {
            Some(secured) => {
                headers.append(SET_COOKIE, secured);
                headers.append(SET_COOKIE, HeaderValue::from_static(NO_PLAIN));
            }
            None => {
                headers.append(SET_COOKIE, value);
            }
        }
    }
}

/// Value and attributes of the session's cookie.
fn session_of(value: &HeaderValue) -> Option<&str> {
    value
        .to_str()
        .ok()?
        .strip_prefix(COOKIE_NAME)?
        .strip_prefix('=')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secured(cookies: &[&'static str]) -> Vec<String> {
        let mut headers = HeaderMap::new();
        for cookie in cookies {
            headers.append(SET_COOKIE, HeaderValue::from_static(cookie));
        }
        secure(&mut headers);
        let values = headers.get_all(SET_COOKIE).iter();
        values
            .map(|value| value.to_str().unwrap().to_owned())
            .collect()
    }

    #[test]
    fn the_sessions_cookie_becomes_one_that_only_this_host_can_set() {
        assert_eq!(
            secured(&["hostd_session=a.b.c; Path=/; HttpOnly; SameSite=Lax"]),
            [
                "__Host-hostd_session=a.b.c; Path=/; HttpOnly; SameSite=Lax; Secure",
                NO_PLAIN
            ]
        );
        let removes = secured(&["hostd_session=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax"]);
        assert!(removes[0].starts_with("__Host-hostd_session=; Max-Age=0; "));
        assert!(NO_PLAIN.starts_with(COOKIE_NAME));
    }

    #[test]
    fn other_cookies_stay_as_they_are() {
        let others = ["hostd_sessions=a", "theme=dark; Path=/x", "x"];
        assert_eq!(secured(&others), others);
        assert_eq!(secured(&[]), Vec::<String>::new());
    }
}
