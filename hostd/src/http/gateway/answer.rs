//! From a handler's reply, or the lack of one, to a response.

use admission::Crowded;
use http::header::HeaderName;
use http::{HeaderValue, Response, StatusCode};
use runtime::{CallError, Reply, ReplyBody};
use tracing::{error, warn};

use crate::http::arrivals::ArrivalError;
use crate::http::body::{ReadError, ResponseBody};
use crate::http::error::ApiError;
use crate::plugin::Loaded;
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

/// A plugin that gave no reply. Its callers hear that it was this plugin, and not the server.
pub(super) fn refuse_plugin(failure: &CallError, plugin: &Loaded, request_id: &str) -> ApiError {
    let why = match failure {
        CallError::Deadline { ms } | CallError::Compute { ms } => {
            let (id, version) = (plugin.label(), plugin.version());
            return ApiError::new(
                StatusCode::GATEWAY_TIMEOUT,
                "handler_timeout",
                format!(
                    "the plugin {id} {version} did not answer within {ms} ms; retry, or ask for less"
                ),
            );
        }
        CallError::Trap { .. } => "it trapped".to_owned(),
        CallError::Memory { bytes_max, .. } => {
            format!("it asked for more than its {bytes_max} bytes of memory")
        }
        CallError::StackOverflow => "its stack is full".to_owned(),
        CallError::Fault { .. } => "its call broke off".to_owned(),
        CallError::BadResponse(_)
        | CallError::ResponseTooLarge { .. }
        | CallError::Transfer { .. } => "its response cannot be sent".to_owned(),
        CallError::Overloaded { .. } | CallError::Instantiate { .. } | CallError::Ended => {
            return refuse_call(failure, request_id);
        }
    };
    error!(request_id, error = %failure, plugin = &*plugin.label(), "plugin failed");
    plugin_failed(plugin, &why)
}

fn plugin_failed(plugin: &Loaded, why: &str) -> ApiError {
    let (id, version) = (plugin.label(), plugin.version());
    ApiError::new(
        StatusCode::BAD_GATEWAY,
        "plugin_failed",
        format!(
            "the plugin {id} {version} failed: {why}; report it to its author, for whom hostd plugin logs {id} has more"
        ),
    )
}

/// The reply of a handler, or of a plugin, as it goes out.
pub(super) fn respond(
    reply: Reply,
    plugin: Option<&Loaded>,
) -> Result<Response<ResponseBody>, ApiError> {
    let unfit = || match plugin {
        Some(plugin) => plugin_failed(plugin, "its response cannot be sent"),
        None => ApiError::internal(),
    };
    let status = StatusCode::from_u16(reply.status).map_err(|_| unfit())?;
    let body = match reply.body {
        ReplyBody::Empty => ResponseBody::empty(),
        ReplyBody::Bytes(bytes) => ResponseBody::full(bytes),
        ReplyBody::Stream(stream) => ResponseBody::Stream(stream),
        ReplyBody::Upgrade(_) => {
            error!("a handler answered an ordinary request with an upgrade");
            return Err(unfit());
        }
    };
    let mut response = Response::new(body);
    *response.status_mut() = status;
    for (name, value) in reply.headers {
        if HOST_ONLY.contains(&name.as_str()) {
            continue;
        }
        let name = HeaderName::try_from(name).map_err(|_| unfit())?;
        let value = HeaderValue::try_from(value).map_err(|_| unfit())?;
        response.headers_mut().append(name, value);
    }
    Ok(response)
}
