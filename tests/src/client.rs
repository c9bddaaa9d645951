//! A plain HTTP client that never fails on a status and keeps the whole answer.

use anyhow::{Context, Result};
use serde_json::Value;
use ureq::Agent;
use ureq::http::{Method, Request};

/// Largest answer a test reads.
const ANSWER_BYTES_MAX: u64 = 256 << 20;

/// Separates the parts of forms.
const BOUNDARY: &str = "test-7MA4YWxkTrZu0gW";

/// Talks to one server with one credential.
#[derive(Debug, Clone)]
pub struct Client {
    agent: Agent,
    url: String,
    headers: Vec<(String, String)>,
}

/// Status, headers and body of one answer.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    /// The body, with replacement characters where it is not UTF-8.
    pub text: String,
}

impl Client {
    #[must_use]
    pub fn new(url: &str) -> Self {
        Self {
            agent: Agent::config_builder()
                .http_status_as_error(false)
                .allow_non_standard_methods(true)
                // A test sees where an answer leads.
                .max_redirects(0)
                .max_redirects_will_error(false)
                .build()
                .into(),
            url: url.to_owned(),
            headers: Vec::new(),
        }
    }

    #[must_use]
    pub fn with_authorization(self, value: &str) -> Self {
        self.with_header("authorization", value)
    }

    #[must_use]
    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// # Errors
    /// No answer at all.
    pub fn get(&self, path: &str) -> Result<Reply> {
        self.send("GET", path, None)
    }

    /// # Errors
    /// No answer at all.
    pub fn delete(&self, path: &str) -> Result<Reply> {
        self.send("DELETE", path, None)
    }

    /// # Errors
    /// No answer at all.
    pub fn post(&self, path: &str, body: &Value) -> Result<Reply> {
        self.send("POST", path, Some(&body.to_string()))
    }

    /// # Errors
    /// No answer at all.
    pub fn patch(&self, path: &str, body: &Value) -> Result<Reply> {
        self.send("PATCH", path, Some(&body.to_string()))
    }

    /// Send `body` as JSON, whatever it contains.
    ///
    /// # Errors
    /// No answer at all.
    pub fn send(&self, method: &str, path: &str, body: Option<&str>) -> Result<Reply> {
        let typed = body.map(|body| ("application/json", body.as_bytes()));
        self.send_typed(method, path, typed)
    }

    /// Send a form of texts and one file: the name of its part, its file name, and its bytes.
    ///
    /// # Errors
    /// No answer at all.
    pub fn post_form(
        &self,
        path: &str,
        texts: &[(&str, &str)],
        (part, file_name, bytes): (&str, &str, &[u8]),
    ) -> Result<Reply> {
        let mut form = Vec::new();
        for (name, text) in texts {
            let head = "Content-Disposition: form-data; name=";
            form.extend(format!("--{BOUNDARY}\r\n{head}\"{name}\"\r\n\r\n{text}\r\n").bytes());
        }
        let head = format!(
            "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{part}\"; filename=\"{file_name}\"\r\n\r\n"
        );
        form.extend(head.bytes());
        form.extend(bytes);
        form.extend(format!("\r\n--{BOUNDARY}--\r\n").bytes());
        let media_type = format!("multipart/form-data; boundary={BOUNDARY}");
        self.send_typed("POST", path, Some((&media_type, &form)))
    }

    /// Send a body of any media type; a header `content-type` of this client overrides it.
    ///
    /// # Errors
    /// No answer at all.
    pub fn send_typed(
        &self,
        method: &str,
        path: &str,
        body: Option<(&str, &[u8])>,
    ) -> Result<Reply> {
        let method = Method::from_bytes(method.as_bytes())?;
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.url));
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let answer = match body {
            Some((content_type, body)) => {
                let typed = self.headers.iter().any(|(name, _)| name == "content-type");
                if !typed {
                    request = request.header("content-type", content_type);
                }
                self.agent.run(request.body(body.to_vec())?)
            }
            None => self.agent.run(request.body(())?),
        };
        let mut answer = answer.with_context(|| format!("request {path}"))?;
        let headers = answer
            .headers()
            .iter()
            .map(|(name, value)| {
                let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
                (name.as_str().to_owned(), value)
            })
            .collect();
        let body = answer.body_mut().with_config().limit(ANSWER_BYTES_MAX);
        let body = body.read_to_vec().context("read the answer")?;
        Ok(Reply {
            status: answer.status().as_u16(),
            headers,
            text: String::from_utf8_lossy(&body).into_owned(),
        })
    }
}

impl Reply {
    /// The body as JSON.
    ///
    /// # Panics
    /// The body is not JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text)
            .unwrap_or_else(|e| panic!("{e} in the {} answer {:?}", self.status, self.text))
    }

    /// First value of a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(n, _)| n == name)
            .map(|(_, v)| v.as_str())
    }

    /// The JSON body, after checking the status.
    ///
    /// # Panics
    /// The status is another one.
    pub fn expect(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text);
        if self.text.is_empty() {
            return Value::Null;
        }
        self.json()
    }

    /// Check an error answer in the usual shape, with this status and code.
    ///
    /// # Panics
    /// Anything is different.
    pub fn expect_error(&self, status: u16, code: &str) {
        let body = self.expect(status);
        assert_eq!(body["code"], code, "{}", self.text);
        let sentence = body["error"].as_str().expect("error is a sentence");
        assert!(sentence.len() > 10, "{sentence}");
        let id = body["request_id"].as_str().expect("request id");
        assert_eq!(self.header("x-request-id"), Some(id), "{}", self.text);
    }
}
