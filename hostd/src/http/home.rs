//! The page at `/`: what this server is, and where to go from here. It says nothing that the API document, which is for
//! everybody, does not say.

use http::header::{CONTENT_SECURITY_POLICY, REFERRER_POLICY, VARY};
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use serde_json::json;

use crate::http::body::ResponseBody;
use crate::http::native::reply;
use crate::http::people::{SIGN_IN, wants_page};

/// Where the page is.
pub(crate) const PATH: &str = "/";

/// The version of this program.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What the page may do: use the style that it holds, and send its own form to this server.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'self'; \
     frame-ancestors 'none'",
);

const PAGE: &str = include_str!("pages/home.html");

/// The page for people, the same as JSON for programs.
pub(crate) fn answer(headers: &HeaderMap) -> Response<ResponseBody> {
    let mut response = match wants_page(headers) {
        true => {
            let page = PAGE.replace("{version}", VERSION);
            let mut response = reply(StatusCode::OK, "text/html; charset=utf-8", page);
            let headers = response.headers_mut();
            headers.insert(CONTENT_SECURITY_POLICY, POLICY);
            // With `no-referrer`, browsers would send the form with `Origin: null`.
            headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
            response
        }
        false => {
            let told = json!({
                "name": "hostd",
                "version": VERSION,
                "api": "/api",
                "openapi": "/api/openapi.json",
                "docs": "/api/docs",
                "sign_in": SIGN_IN,
            });
            reply(StatusCode::OK, "application/json", told.to_string())
        }
    };
    let headers = response.headers_mut();
    headers.insert(VARY, HeaderValue::from_static("accept"));
    response
}
