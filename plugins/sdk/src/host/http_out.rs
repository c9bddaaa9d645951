//! Requests to others.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Error;
#[cfg(target_arch = "wasm32")]
use crate::bindings::handler::hostd::plugin::http_out as wit;
#[cfg(not(target_arch = "wasm32"))]
use crate::testing::with;

/// How long a request may take unless it says otherwise, in milliseconds.
const TIMEOUT_MS: u32 = 10_000;

/// A request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Upper case.
    pub method: String,
    /// Absolute.
    pub url: String,
    pub headers: Vec<(String, String)>,
    /// At most 1 MiB.
    pub body: Vec<u8>,
    /// 1..=30000
    pub timeout_ms: u32,
}

/// What came back, whatever the status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// At most 1 MiB.
    pub body: Vec<u8>,
}

impl Request {
    /// Any method; no body, 10 s.
    #[must_use]
    pub fn new(method: &str, url: &str) -> Self {
        Self {
            method: method.to_owned(),
            url: url.to_owned(),
            headers: Vec::new(),
            body: Vec::new(),
            timeout_ms: TIMEOUT_MS,
        }
    }

    /// With one more header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// With a body of this media type.
    #[must_use]
    pub fn body(mut self, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self.header("content-type", content_type)
    }

    /// With a JSON body.
    ///
    /// # Panics
    /// The value cannot be JSON: a map whose keys are no texts.
    #[must_use]
    pub fn json(self, value: &impl Serialize) -> Self {
        let body = serde_json::to_vec(value).expect("the value can be JSON");
        self.body("application/json", body)
    }

    /// Within this time.
    #[must_use]
    pub fn timeout_ms(mut self, timeout_ms: u32) -> Self {
        self.timeout_ms = timeout_ms;
        self
    }

    /// Send it, and wait for the answer.
    ///
    /// # Errors
    /// It was not granted, or there is no answer within the bounds.
    pub fn send(self) -> Result<Answer, Error> {
        on!(
            {
                let answer = wit::send(&wit::Request {
                    method: self.method,
                    url: self.url,
                    headers: self.headers,
                    body: self.body,
                    timeout_ms: self.timeout_ms,
                    extra: Vec::new(),
                })?;
                Ok(Answer {
                    status: answer.status,
                    headers: answer.headers,
                    body: answer.body,
                })
            },
            with(|double| double.send(self))
        )
    }
}

impl Answer {
    /// An answer with a body of this media type, for tests.
    #[must_use]
    pub fn new(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            headers: vec![("content-type".to_owned(), content_type.to_owned())],
            body: body.into(),
        }
    }

    /// Whether the status is 200 to 299.
    #[must_use]
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The first header of this name, which is in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let found = headers.find(|(known, _)| known == name)?;
        Some(&found.1)
    }

    /// The body as JSON.
    ///
    /// # Errors
    /// It is none, or not of this shape.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, Error> {
        serde_json::from_slice(&self.body).map_err(|error| {
            Error::new("bad_answer", format!("the answer cannot be read: {error}"))
        })
    }
}
