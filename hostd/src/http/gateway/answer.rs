//! From a handler's reply, or the lack of one, to a response.

use http::header::HeaderName;
use http::{HeaderValue, Response, StatusCode};
use runtime::{CallError, Reply, ReplyBody};
use tracing::{error, warn};

use crate::http::body::{ReadError, ResponseBody};
use crate::http::error::ApiError;

/// Response headers that only the host sets.
const HOST_ONLY: [&str; 5] = [
    "connection",
    "content-length",
    "date",
    "transfer-encoding",
    "x-request-id",
];

/// A body that could not be read.
pub(super) fn refuse_body(error: &ReadError) -> ApiError {
    match error {
        ReadError::TooLarge { limit_bytes } => ApiError::too_large(*limit_bytes),
        ReadError::TooSlow { .. } => ApiError::new(
            StatusCode::REQUEST_TIMEOUT,
            "body_timeout",
            format!("{error}; send the body without pauses"),
        ),
        ReadError::Broken => ApiError::new(
            StatusCode::BAD_REQUEST,
            "body_incomplete",
            "the request body ended before its end",
        ),
    }
}

/// A handler that gave no reply.
pub(super) fn refuse_call(failure: &CallError, request_id: &str) -> ApiError {
    match failure {
        CallError::Overloaded { retry_after_s } => {
            warn!(request_id, "all instances busy");
            ApiError::overloaded(*retry_after_s)
        }
        CallError::Deadline { ms } | CallError::Compute { ms } => ApiError::new(
            StatusCode::GATEWAY_TIMEOUT,
            "handler_timeout",
            format!("the handler did not answer within {ms} ms; retry, or ask for less"),
        ),
        other => {
            error!(request_id, error = %other, "handler failed");
            ApiError::internal()
        }
    }
}

/// A handler's reply as it goes out.
pub(super) fn respond(reply: Reply) -> Result<Response<ResponseBody>, ApiError> {
    let status = StatusCode::from_u16(reply.status).map_err(|_| ApiError::internal())?;
    let body = match reply.body {
        ReplyBody::Empty => ResponseBody::empty(),
        ReplyBody::Bytes(bytes) => ResponseBody::full(bytes),
        ReplyBody::Stream(stream) => ResponseBody::Stream(stream),
        ReplyBody::Upgrade(_) => {
            error!("a handler answered an ordinary request with an upgrade");
            return Err(ApiError::internal());
        }
    };
    let mut response = Response::new(body);
    *response.status_mut() = status;
    for (name, value) in reply.headers {
        if HOST_ONLY.contains(&name.as_str()) {
            continue;
        }
        let name = HeaderName::try_from(name).map_err(|_| ApiError::internal())?;
        let value = HeaderValue::try_from(value).map_err(|_| ApiError::internal())?;
        response.headers_mut().append(name, value);
    }
    Ok(response)
}
