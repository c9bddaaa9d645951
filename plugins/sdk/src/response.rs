//! What a route's function answers.

use serde::Serialize;

use crate::Error;
use crate::bindings::handler::exports::hostd::plugin::http as wit;

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// 200..=599
    pub status: u16,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// At most 8 MiB.
    pub body: Vec<u8>,
}

impl Response {
    /// A body of this media type.
    #[must_use]
    pub fn new(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            headers: vec![("content-type".to_owned(), content_type.to_owned())],
            body: body.into(),
        }
    }

    /// A JSON body.
    ///
    /// # Panics
    /// The value cannot be JSON: a map whose keys are no texts.
    #[must_use]
    pub fn json(status: u16, value: &impl Serialize) -> Self {
        let body = serde_json::to_vec(value).expect("the value can be JSON");
        Self::new(status, "application/json", body)
    }

    /// Plain text.
    #[must_use]
    pub fn text(status: u16, text: impl Into<String>) -> Self {
        Self::new(status, "text/plain; charset=utf-8", text.into())
    }

    /// A refusal in the shape that all of the API has.
    #[must_use]
    pub fn error(request_id: &str, error: &Error) -> Self {
        let body = serde_json::json!({
            "error": error.message,
            "code": error.code,
            "request_id": request_id,
        });
        Self::json(error.status(), &body)
    }
}

impl From<Response> for wit::Response {
    fn from(response: Response) -> Self {
        Self {
            status: response.status,
            headers: response.headers,
            body: response.body,
            extra: Vec::new(),
        }
    }
}
