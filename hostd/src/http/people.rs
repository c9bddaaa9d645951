//! What the gateway does for people in browsers: short addresses of pages, and the page to sign in for whoever follows a
//! link without a session.

use std::borrow::Cow;

use http::header::{ACCEPT, AUTHORIZATION, CACHE_CONTROL, LOCATION, VARY};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode};

use crate::http::body::ResponseBody;
use crate::http::relay::Relayed;

/// The page to sign in.
pub(crate) const SIGN_IN: &str = "/sign-in";

/// Addresses of pages, and the endpoints that answer there.
const SHORT: [(&str, &str); 2] = [
    (SIGN_IN, "/api/auth/sign-in"),
    ("/sign-out", "/api/auth/sign-out"),
];

/// How the addresses of boards' projects begin that published clients open, and how those of the endpoint.
pub(crate) const BOARDS: &str = "/tools/emi/";
const PROJECTS: &str = "/api/emi/projects/";
const REPORT: &str = "/report";

/// Longest address to come back to, in bytes before it is encoded. A longer one is forgotten.
const TO_BYTES_MAX: usize = 2048;

/// The path of the endpoint that answers at this path.
pub(crate) fn endpoint(path: &str) -> Cow<'_, str> {
    if let Some((_, endpoint)) = SHORT.iter().find(|(short, _)| *short == path) {
        return Cow::Borrowed(endpoint);
    }
    let project = path.strip_prefix(BOARDS);
    match project.filter(|project| !project.is_empty() && !project.contains('/')) {
        Some(project) => Cow::Owned(format!("{PROJECTS}{project}{REPORT}")),
        None => Cow::Borrowed(path),
    }
}

/// The way to the page to sign in, for somebody whose browser shows no session that is valid; none for a program. After
/// signing in, it leads back to what was asked for.
pub(crate) fn sign_in(head: &Parts) -> Option<Response<ResponseBody>> {
    let headers = &head.headers;
    let is_program = headers.contains_key(AUTHORIZATION)
        || head.extensions.get::<Relayed>().is_some()
        || !wants_page(headers);
    if is_program {
        return None;
    }
    let mut location = SIGN_IN.to_owned();
    let asked = head.uri.path_and_query().map(|asked| asked.as_str());
    let asked = asked.filter(|asked| asked.len() <= TO_BYTES_MAX);
    if let (&Method::GET, Some(asked)) = (&head.method, asked) {
        location.push_str("?to=");
        location.push_str(&jobs::encoded(asked));
    }
    let mut response = Response::new(ResponseBody::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    let answer = response.headers_mut();
    answer.insert(LOCATION, HeaderValue::from_str(&location).ok()?);
    answer.insert(VARY, HeaderValue::from_static("accept, cookie"));
    answer.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
    Some(response)
}

/// Whether the header `Accept` names HTML, as those of browsers do; programs leave it to `*/*`.
pub(crate) fn wants_page(headers: &HeaderMap) -> bool {
    let values = headers.get_all(ACCEPT).iter();
    let mut ranges = values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','));
    ranges.any(|range| {
        let mut parts = range.split(';').map(str::trim);
        let is_html = parts
            .next()
            .is_some_and(|kind| kind.eq_ignore_ascii_case("text/html"));
        is_html && !parts.any(|part| matches!(part, "q=0" | "q=0.0" | "q=0.00" | "q=0.000"))
    })
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    const BROWSER: (&str, &str) = ("accept", "text/html,application/xhtml+xml,*/*;q=0.8");

    fn location(method: &str, uri: &str, headers: &[(&str, &str)]) -> Option<String> {
        let mut request = Request::builder().method(method).uri(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (head, ()) = request.body(()).unwrap().into_parts();
        let answer = sign_in(&head)?;
        assert_eq!(answer.status(), StatusCode::SEE_OTHER);
        Some(answer.headers()[LOCATION].to_str().unwrap().to_owned())
    }

    #[test]
    fn a_browser_is_led_to_the_page_and_back() {
        let led = |uri| location("GET", uri, &[BROWSER]).unwrap();
        assert_eq!(
            led("/api/jobs/01X/report"),
            "/sign-in?to=/api/jobs/01X/report"
        );
        assert_eq!(
            led("/api/x?a=1&b=%2F"),
            "/sign-in?to=/api/x%3Fa%3D1%26b%3D%252F"
        );
        // An address of another form leads nowhere else: only its path counts.
        assert_eq!(led("http://evil.example/x"), "/sign-in?to=/x");
        assert_eq!(led(&format!("/{}", "x".repeat(TO_BYTES_MAX))), "/sign-in");
        assert_eq!(
            location("POST", "/sign-out", &[BROWSER]).unwrap(),
            "/sign-in"
        );
    }

    #[test]
    fn a_program_is_not() {
        for headers in [
            &[][..],
            &[("accept", "*/*")],
            &[("accept", "application/json")],
            &[BROWSER, ("authorization", "ApiKey x")],
        ] {
            assert_eq!(location("GET", "/api/jobs", headers), None, "{headers:?}");
        }
    }

    #[test]
    fn short_addresses_lead_to_endpoints() {
        for (path, meant) in [
            ("/sign-in", "/api/auth/sign-in"),
            ("/sign-out", "/api/auth/sign-out"),
            ("/tools/emi/01X", "/api/emi/projects/01X/report"),
            ("/tools/emi/", "/tools/emi/"),
            ("/tools/emi/01X/runs", "/tools/emi/01X/runs"),
            ("/api/jobs", "/api/jobs"),
            ("/sign-in/", "/sign-in/"),
        ] {
            assert_eq!(endpoint(path), meant);
        }
    }
}
