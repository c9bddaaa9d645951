//! The session's cookie where the client came by HTTPS: under a name that only this host can set, and never sent without
//! encryption. Handlers do not know how the client came.

use http::header::{COOKIE, SET_COOKIE};
use http::{HeaderMap, HeaderValue};
use identity::{COOKIE_NAME, SECURE_COOKIE_NAME};

/// What the secure one has besides.
const SECURE: &str = "; Secure";

/// Removes the cookie of the plain name, which a connection without encryption may have left.
const NO_PLAIN: &str = "hostd_session=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax; Secure";

/// The cookies that a request shows, as one header. Where the client came by HTTPS, they are without the session's plain one,
/// which another host of the domain or a connection without encryption may have set.
pub(super) fn shown(headers: &HeaderMap, is_secret: impl FnOnce() -> bool) -> Option<String> {
    // HTTP/2 may send a field for each cookie.
    let all = headers.get_all(COOKIE).iter();
    let all: Vec<&str> = all.filter_map(|value| value.to_str().ok()).collect();
    if all.is_empty() {
        return None;
    }
    let all = all.join("; ");
    if !is_secret() {
        return Some(all);
    }
    let kept: Vec<&str> = all.split(';').filter(|pair| !is_plain(pair)).collect();
    Some(kept.join(";"))
}

/// Whether a cookie that a request shows is the session's plain one.
fn is_plain(pair: &str) -> bool {
    let name = pair.trim().split_once('=').map(|(name, _)| name);
    name == Some(COOKIE_NAME)
}

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
    fn by_https_the_plain_cookie_is_not_shown() {
        let shown = |cookies: &[&'static str], is_secret| {
            let mut headers = HeaderMap::new();
            for cookie in cookies {
                headers.append(COOKIE, HeaderValue::from_static(cookie));
            }
            shown(&headers, || is_secret)
        };
        let both = ["a=b; hostd_session=x.y.z", "__Host-hostd_session=a.b.c"];
        let all = "a=b; hostd_session=x.y.z; __Host-hostd_session=a.b.c";
        assert_eq!(shown(&both, false).as_deref(), Some(all));
        let kept = "a=b; __Host-hostd_session=a.b.c";
        assert_eq!(shown(&both, true).as_deref(), Some(kept));
        assert_eq!(shown(&["hostd_session=x.y.z"], true).as_deref(), Some(""));
        let others = "hostd_sessions=a; xhostd_session=b; hostd_session";
        assert_eq!(shown(&[others], true).as_deref(), Some(others));
        assert_eq!(shown(&[], true), None);
    }

    #[test]
    fn other_cookies_stay_as_they_are() {
        let others = ["hostd_sessions=a", "theme=dark; Path=/x", "x"];
        assert_eq!(secured(&others), others);
        assert_eq!(secured(&[]), Vec::<String>::new());
    }
}
