//! The one error shape: `{"error": sentence, "code": stable word, "request_id": id, …}`.
//!
//! Handlers build the same shape in the guest; this one is for what the host itself refuses, before
//! or instead of a handler. Internal details go to the log, the sentence is for the caller.

use http::header::{
    ALLOW, CONNECTION, CONTENT_TYPE, RETRY_AFTER, SEC_WEBSOCKET_VERSION, UPGRADE, WWW_AUTHENTICATE,
};
use http::{HeaderValue, Response, StatusCode};
use serde_json::json;

use crate::http::body::ResponseBody;
use identity::AuthError;

/// A refusal by the host.
#[derive(Debug)]
pub struct ApiError {
    status: StatusCode,
    code: &'static str,
    message: String,
    retry_after_s: Option<u32>,
    allow: Option<String>,
}

impl ApiError {
    #[must_use]
    pub fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self {
            status,
            code,
            message: message.into(),
            retry_after_s: None,
            allow: None,
        }
    }

    #[must_use]
    pub fn not_found(path: &str) -> Self {
        let shown: String = path.chars().take(120).collect();
        Self::new(
            StatusCode::NOT_FOUND,
            "not_found",
            format!("there is no endpoint {shown}; /api/openapi.json lists them all"),
        )
    }

    /// There is no endpoint at `path`, but one at `meant`.
    #[must_use]
    pub fn other_endpoint(path: &str, meant: &str, why: &str) -> Self {
        let shown = |path: &str| -> String { path.chars().take(120).collect() };
        Self::new(
            StatusCode::NOT_FOUND,
            "not_found",
            format!(
                "there is no endpoint {}; did you mean {}? {why}",
                shown(path),
                shown(meant)
            ),
        )
    }

    #[must_use]
    pub fn method_not_allowed(allow: &str) -> Self {
        let mut error = Self::new(
            StatusCode::METHOD_NOT_ALLOWED,
            "method_not_allowed",
            format!("this endpoint takes {allow}"),
        );
        error.allow = Some(allow.to_owned());
        error
    }

    #[must_use]
    pub fn upgrade_required(message: &str) -> Self {
        Self::new(StatusCode::UPGRADE_REQUIRED, "upgrade_required", message)
    }

    #[must_use]
    pub fn too_large(limit_bytes: u32) -> Self {
        Self::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "body_too_large",
            format!("the request body is over the {limit_bytes} bytes that this endpoint takes"),
        )
    }

    #[must_use]
    pub fn overloaded(retry_after_s: u32) -> Self {
        let mut error = Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "overloaded",
            "too many requests are in progress; retry shortly",
        );
        error.retry_after_s = Some(retry_after_s);
        error
    }

    /// For a connection in the reserve, where only requests that matter are answered.
    #[must_use]
    pub fn crowded() -> Self {
        let mut error = Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "overloaded",
            "all connections are busy, and the reserve takes only health checks and valid credentials; retry shortly",
        );
        error.retry_after_s = Some(1);
        error
    }

    #[must_use]
    pub fn no_space() -> Self {
        Self::new(
            StatusCode::INSUFFICIENT_STORAGE,
            "no_space",
            "the disk of the server has no room for this (disk.floor_mib); remove captures, waveforms or builds that nobody needs, or ask its administrator",
        )
    }

    #[must_use]
    pub fn rate_limited(retry_after_s: u32) -> Self {
        let mut error = Self::new(
            StatusCode::TOO_MANY_REQUESTS,
            "rate_limited",
            format!("this credential makes too many requests; go on in {retry_after_s} s"),
        );
        error.retry_after_s = Some(retry_after_s);
        error
    }

    #[must_use]
    pub fn too_many_uploads(whose: &str, retry_after_s: u32) -> Self {
        let mut error = Self::new(
            StatusCode::TOO_MANY_REQUESTS,
            "too_many_uploads",
            format!(
                "too many uploads of {whose} are on their way; send the next when one is through"
            ),
        );
        error.retry_after_s = Some(retry_after_s);
        error
    }

    /// `whose` has its share of the WebSockets.
    #[must_use]
    pub fn too_many_sockets(whose: &str, retry_after_s: u32) -> Self {
        let mut error = Self::new(
            StatusCode::TOO_MANY_REQUESTS,
            "too_many_sockets",
            format!(
                "{whose} has its share of the server's WebSockets (http.sockets_max); close some of them first"
            ),
        );
        error.retry_after_s = Some(retry_after_s);
        error
    }

    #[must_use]
    pub fn internal() -> Self {
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "internal",
            "the server failed to answer this request; its log has the details under the request id",
        )
    }

    #[must_use]
    pub fn status(&self) -> StatusCode {
        self.status
    }

    #[must_use]
    pub fn code(&self) -> &'static str {
        self.code
    }

    /// The response for the request with this id.
    #[must_use]
    pub fn into_response(self, request_id: &str) -> Response<ResponseBody> {
        let body = json!({
            "error": self.message,
            "code": self.code,
            "request_id": request_id,
        });
        let mut response = Response::new(ResponseBody::full(body.to_string()));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(seconds) = self.retry_after_s {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        if let Some(allow) = self.allow.and_then(|a| HeaderValue::from_str(&a).ok()) {
            headers.insert(ALLOW, allow);
        }
        if self.status == StatusCode::UPGRADE_REQUIRED {
            headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
            headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
            headers.insert(SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13"));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("ApiKey, Bearer"));
        }
        response
    }
}

impl From<AuthError> for ApiError {
    fn from(error: AuthError) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, error.code(), error.to_string())
    }
}
