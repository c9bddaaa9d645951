//! What a program gets at `/`: what this server is, and where to go from here. Browsers get the web application.

use http::header::VARY;
use http::{HeaderValue, Response, StatusCode};
use serde_json::json;

use crate::http::body::ResponseBody;
use crate::http::native::reply;
use crate::http::people::SIGN_IN;

/// Where it is.
pub(crate) const PATH: &str = "/";

/// The version of this program.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Nothing that the API document, which is for everybody, does not say.
pub(crate) fn answer() -> Response<ResponseBody> {
    let known = json!({
        "name": "hostd",
        "version": VERSION,
        "api": "/api",
        "openapi": "/api/openapi.json",
        "docs": "/api/docs",
        "sign_in": SIGN_IN,
    });
    let mut response = reply(StatusCode::OK, "application/json", known.to_string());
    let headers = response.headers_mut();
    headers.insert(VARY, HeaderValue::from_static("accept"));
    response
}
