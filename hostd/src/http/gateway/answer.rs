//! From a handler's reply, or the lack of one, to a response.

use admission::Crowded;
use http::header::HeaderName;
use http::{HeaderValue, Response, StatusCode};
use runtime::{CallError, Reply, ReplyBody};
use tracing::{error, warn};

use crate::http::arrivals::ArrivalError;
use crate::http::body::{ReadError, ResponseBody};
use crate::http::error::ApiError;
use base::pace::TooSlow;
use base::space;
use lab::blobs::{StageError, StageFormError};

/// Response headers that only the host sets.
const HOST_ONLY: [&str; 5] = [
    "connection",
    "content-length",
    "date",
    "transfer-encoding",
    "x-request-id",
];

/// Retry delay when too many bodies are arriving, in seconds.
const RETRY_AFTER_S: u32 = 5;

/// A body that could not be read.
pub(super) fn refuse_body(error: &ReadError) -> ApiError {
    match error {
        ReadError::TooLarge { limit_bytes } => ApiError::too_large(*limit_bytes),
        ReadError::TooSlow(error) => too_slow(error),
        ReadError::Broken => incomplete(),
        ReadError::Crowded(Crowded::All) => ApiError::overloaded(RETRY_AFTER_S),
        ReadError::Crowded(Crowded::Org) => {
            ApiError::too_many_uploads("this organisation", RETRY_AFTER_S)
        }
        ReadError::Crowded(Crowded::User) => ApiError::too_many_uploads("this user", RETRY_AFTER_S),
    }
}

/// A body that did not arrive as its handler wanted it.
pub(super) fn refuse_arrival(error: &ArrivalError, request_id: &str) -> ApiError {
    let error = match error {
        ArrivalError::Read(error) => return refuse_body(error),
        ArrivalError::Stage(error) => error,
    };
    match error {
        StageFormError::Stage(StageError::TooLarge { limit_bytes }) => ApiError::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "body_too_large",
            format!("the file is over the {limit_bytes} bytes that there is room for"),
        ),
        StageFormError::Stage(StageError::TooSlow(error)) => too_slow(error),
        StageFormError::Stage(StageError::Broken) => incomplete(),
        StageFormError::Stage(error) if space::is_full(error) => ApiError::no_space(),
        StageFormError::Stage(error @ StageError::Write { source, .. }) => {
            error!(request_id, %error, %source, "failed to take an upload");
            ApiError::internal()
        }
        malformed => ApiError::new(
            StatusCode::BAD_REQUEST,
            "invalid_request",
            format!("the body cannot be read: {malformed}"),
        ),
    }
}

fn too_slow(error: &TooSlow) -> ApiError {
    ApiError::new(
        StatusCode::REQUEST_TIMEOUT,
        "body_timeout",
        format!("{error}; send it without pauses"),
    )
}

fn incomplete() -> ApiError {
    ApiError::new(
        StatusCode::BAD_REQUEST,
        "body_incomplete",
        "the request body ended before its end",
    )
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
