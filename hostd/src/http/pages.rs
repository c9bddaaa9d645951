//! Pages for people: `/api/docs` shows the OpenAPI document. All of it is in the binary, and the page
//! may load nothing from elsewhere.

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY};
use http::{HeaderValue, Response};

use crate::http::body::ResponseBody;

/// What the page may do: run its own script, use its own style, call this server.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);

/// A file of a page.
struct File {
    path: &'static str,
    content_type: &'static str,
    content: &'static str,
}

const FILES: [File; 3] = [
    File {
        path: "/api/docs",
        content_type: "text/html; charset=utf-8",
        content: include_str!("pages/docs.html"),
    },
    File {
        path: "/api/docs/docs.css",
        content_type: "text/css; charset=utf-8",
        content: include_str!("pages/docs.css"),
    },
    File {
        path: "/api/docs/docs.js",
        content_type: "text/javascript; charset=utf-8",
        content: include_str!("pages/docs.js"),
    },
];

/// Whether there is a page at this path.
#[must_use]
pub fn owns(path: &str) -> bool {
    FILES.iter().any(|file| file.path == path)
}

/// The page at this path, if there is one.
#[must_use]
pub fn answer(path: &str) -> Option<Response<ResponseBody>> {
    let file = FILES.iter().find(|file| file.path == path)?;
    let content = Bytes::from_static(file.content.as_bytes());
    let mut response = Response::new(ResponseBody::full(content));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(file.content_type));
    headers.insert(CONTENT_SECURITY_POLICY, POLICY);
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    // The page must match the server's version.
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    Some(response)
}
