//! A client that writes requests by hand, over whatever stream it is given.

use http::StatusCode;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// A request.
#[derive(Clone, Debug)]
pub(super) struct Ask<'a> {
    pub(super) method: &'a str,
    /// With the query.
    pub(super) path: &'a str,
    /// Value of `Authorization`; empty = none.
    pub(super) credential: String,
    /// The lease that it shows.
    pub(super) lease: Option<&'a str>,
    pub(super) body: Value,
}

impl<'a> Ask<'a> {
    pub(super) fn new(method: &'a str, path: &'a str, credential: &str) -> Self {
        Self {
            method,
            path,
            credential: credential.to_owned(),
            lease: None,
            body: Value::Null,
        }
    }

    pub(super) fn post(path: &'a str, credential: &str, body: Value) -> Self {
        Self {
            body,
            ..Self::new("POST", path, credential)
        }
    }

    pub(super) fn showing(mut self, lease: &'a str) -> Self {
        self.lease = Some(lease);
        self
    }

    /// As it goes out.
    fn text(&self) -> String {
        let mut head = format!("{} {} HTTP/1.1\r\nhost: x\r\n", self.method, self.path);
        if !self.credential.is_empty() {
            head += &format!("authorization: {}\r\n", self.credential);
        }
        if let Some(lease) = self.lease {
            head += &format!("x-benchpod-lease: {lease}\r\n");
        }
        let body = match &self.body {
            Value::Null => String::new(),
            body => body.to_string(),
        };
        let length = body.len();
        format!(
            "{head}content-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
        )
    }

    /// Ask over a stream of its own, and take the whole answer.
    pub(super) async fn over(&self, mut stream: impl AsyncRead + AsyncWrite + Unpin) -> Answer {
        stream.write_all(self.text().as_bytes()).await.unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).await.unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap();
        Answer {
            status: status.parse().unwrap(),
            body: serde_json::from_str(body).unwrap_or(Value::Null),
        }
    }
}

/// An answer.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) body: Value,
}

impl Answer {
    /// The body of a success.
    #[track_caller]
    pub(super) fn ok(self) -> Value {
        assert!(self.status.is_success(), "{self:?}");
        self.body
    }

    /// Status and code of a refusal.
    #[track_caller]
    pub(super) fn refused(&self) -> (u16, &str) {
        let code = self.body["code"].as_str();
        (self.status.as_u16(), code.expect("a code"))
    }
}
