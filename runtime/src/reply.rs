//! A handler's response, checked: what leaves here can be sent as HTTP.

use bytes::Bytes;

use crate::Response;
use crate::bindings::hostd::host::http_types::Body;
use crate::failure::CallError;
use crate::state::CallData;
use crate::stream::BodyStream;
use crate::upgrade::Upgrade;

/// Headers of one response.
const HEADERS_MAX: usize = 64;

/// Bytes of all header names and values of one response.
const HEADER_BYTES_MAX: usize = 16 << 10;

/// Set only by the host; a handler's are dropped, as `wit/http.wit` says.
const HOST_OWNED: [&str; 4] = ["connection", "content-length", "date", "transfer-encoding"];

/// What a handler answered.
#[derive(Debug)]
pub struct Reply {
    /// 200..=599
    pub status: u16,
    /// Names in lower case, at most 64, at most 16 KiB; valid as HTTP field names and values.
    pub headers: Vec<(String, String)>,
    /// Within the handler's `response_bytes_max`.
    pub body: ReplyBody,
}

/// The body of a [`Reply`].
#[derive(Debug)]
pub enum ReplyBody {
    Empty,
    Bytes(Bytes),
    Stream(BodyStream),
    /// Not a response at all: the connection becomes this.
    Upgrade(Upgrade),
}

/// Why a handler's response cannot be sent.
#[derive(Debug, thiserror::Error)]
pub enum BadResponse {
    #[error("status {0} is not one of 200..=599")]
    Status(u16),
    #[error("{0} headers: the limit is {HEADERS_MAX}")]
    HeaderCount(usize),
    #[error("{0} bytes of headers: the limit is {HEADER_BYTES_MAX}")]
    HeaderBytes(usize),
    #[error("header name {0:?} is not a lower-case token")]
    HeaderName(String),
    #[error("value of header {0} holds a control character")]
    HeaderValue(String),
    #[error("the body is a stream that the host does not have")]
    Stream(#[source] wasmtime::component::ResourceTableError),
    #[error("the connection would become something that the host does not have")]
    Upgrade(#[source] wasmtime::component::ResourceTableError),
}

/// Check `response`; its stream, if it has one, is taken out of the call's table.
pub(crate) fn check<T: CallData>(
    response: Response,
    data: &mut T,
    body_bytes_max: usize,
) -> Result<Reply, CallError> {
    let body = match response.body {
        Body::Empty => ReplyBody::Empty,
        Body::Bytes(bytes) if bytes.len() > body_bytes_max => {
            return Err(CallError::ResponseTooLarge {
                bytes: bytes.len(),
                bytes_max: body_bytes_max,
            });
        }
        Body::Bytes(bytes) => ReplyBody::Bytes(bytes.into()),
        Body::Stream(handle) => {
            ReplyBody::Stream(data.table().delete(handle).map_err(BadResponse::Stream)?)
        }
        Body::Upgrade(handle) => {
            ReplyBody::Upgrade(data.table().delete(handle).map_err(BadResponse::Upgrade)?)
        }
    };
    Reply::new(response.status, response.headers, body)
}

impl Reply {
    /// What can be sent; headers that only the host sets are dropped. The size of the body is not
    /// checked here.
    ///
    /// # Errors
    /// It is not HTTP.
    pub fn new(
        status: u16,
        mut headers: Vec<(String, String)>,
        body: ReplyBody,
    ) -> Result<Self, CallError> {
        let upgrades = matches!(body, ReplyBody::Upgrade(_));
        if !upgrades && !(200..=599).contains(&status) {
            return Err(BadResponse::Status(status).into());
        }
        check_headers(&headers)?;
        headers.retain(|(name, _)| !HOST_OWNED.contains(&name.as_str()));
        if let ReplyBody::Stream(stream) = &body
            && let Some(content_type) = stream.content_type()
            && !headers.iter().any(|(name, _)| name == "content-type")
        {
            headers.push(("content-type".to_owned(), content_type.to_owned()));
        }
        Ok(Self {
            status,
            headers,
            body,
        })
    }
}

fn check_headers(headers: &[(String, String)]) -> Result<(), BadResponse> {
    if headers.len() > HEADERS_MAX {
        return Err(BadResponse::HeaderCount(headers.len()));
    }
    let bytes = headers.iter().map(|(n, v)| n.len() + v.len()).sum();
    if bytes > HEADER_BYTES_MAX {
        return Err(BadResponse::HeaderBytes(bytes));
    }
    for (name, value) in headers {
        if name.is_empty() || !name.bytes().all(is_lower_token) {
            return Err(BadResponse::HeaderName(name.clone()));
        }
        if value.bytes().any(|b| b.is_ascii_control() && b != b'\t') {
            return Err(BadResponse::HeaderValue(name.clone()));
        }
    }
    Ok(())
}

/// RFC 9110 `tchar`, without capitals.
fn is_lower_token(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests;
