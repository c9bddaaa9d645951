//! The server's answer to a request for a nonce, read from the connection that is used on.

use pod_protocol::dial::login;
use serde_json::{Map, Value};
use tokio::io::{AsyncRead, AsyncReadExt as _};

use super::DialError;

/// Longest head of an answer, in bytes.
const HEAD_BYTES_MAX: usize = 4 * 1024;

/// Longest body.
const BODY_BYTES_MAX: usize = 4 * 1024;

/// A head: its status, the length of the body, and its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Head {
    status: u16,
    body_bytes: usize,
    bytes: usize,
}

/// Reads an answer to its end and no further, and returns the nonce in it.
pub(super) async fn nonce(stream: &mut (impl AsyncRead + Unpin)) -> Result<Vec<u8>, DialError> {
    let mut bytes = Vec::new();
    loop {
        if let Some((status, body)) = read(&bytes).map_err(DialError::Answer)? {
            if !(200..300).contains(&status) {
                let step = "challenge";
                return Err(DialError::Refused { step, status });
            }
            let body: Map<String, Value> = serde_json::from_slice(body)
                .map_err(|_| DialError::Answer("the nonce comes in no JSON object"))?;
            let nonce = body
                .get("nonce")
                .and_then(Value::as_str)
                .and_then(login::nonce);
            return nonce.ok_or(DialError::Answer(
                "there is no nonce of 1 to 128 bytes in the answer",
            ));
        }
        if stream.read_buf(&mut bytes).await? == 0 {
            return Err(DialError::Answer("the server closed instead of answering"));
        }
    }
}

/// Status and body of an answer, once it is complete.
pub(crate) fn read(bytes: &[u8]) -> Result<Option<(u16, &[u8])>, &'static str> {
    let Some(head) = head(bytes)? else {
        return Ok(None);
    };
    let body = &bytes[head.bytes..];
    if body.len() > head.body_bytes {
        return Err("the server says more than it was asked");
    }
    Ok((body.len() == head.body_bytes).then_some((head.status, body)))
}

fn head(bytes: &[u8]) -> Result<Option<Head>, &'static str> {
    let within = &bytes[..bytes.len().min(HEAD_BYTES_MAX)];
    let Some(end) = within.windows(4).position(|four| four == b"\r\n\r\n") else {
        return if bytes.len() < HEAD_BYTES_MAX {
            Ok(None)
        } else {
            Err("the head of the answer is too long")
        };
    };
    let head =
        std::str::from_utf8(&bytes[..end]).map_err(|_| "the head of the answer is no text")?;
    let mut lines = head.split("\r\n");
    let first = lines.next().unwrap_or_default();
    let status = first
        .strip_prefix("HTTP/1.1 ")
        .and_then(|rest| rest.get(..3));
    let status = status.and_then(|status| status.parse().ok());
    let status = status.ok_or("the server does not answer in HTTP/1.1")?;
    let lengths = lines.filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length")
            .then_some(value.trim())
    });
    let length = lengths.last().and_then(|length| length.parse().ok());
    let body_bytes = length.filter(|length| *length <= BODY_BYTES_MAX);
    let body_bytes = body_bytes.ok_or("the answer has no Content-Length, or one too large")?;
    let bytes = end + 4;
    Ok(Some(Head {
        status,
        body_bytes,
        bytes,
    }))
}

#[cfg(test)]
mod tests {
    //! Answers arrive in pieces, and not all are good.

    use super::*;

    const GOOD: &str = "HTTP/1.1 200 OK\r\ncontent-length: 15\r\nx: y\r\n\r\n{\"nonce\":\"YWI\"}";

    #[tokio::test]
    async fn an_answer_is_read_to_its_end() {
        for part in [1, 7, 100] {
            let stream = tokio_test(GOOD.as_bytes(), part);
            assert_eq!(nonce(&mut { stream }).await.unwrap(), b"ab");
        }
        for cut in 0..GOOD.len() {
            assert_eq!(read(&GOOD.as_bytes()[..cut]), Ok(None), "{cut}");
        }
    }

    /// A stream that brings a few bytes at a time.
    fn tokio_test(bytes: &'static [u8], part: usize) -> impl AsyncRead + Unpin {
        let (mut near, far) = tokio::io::duplex(part);
        tokio::spawn(async move { tokio::io::AsyncWriteExt::write_all(&mut near, bytes).await });
        far
    }

    #[tokio::test]
    async fn a_refusal_says_its_status() {
        let mut refusal = &b"HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\n{}"[..];
        let refused = nonce(&mut refusal).await.unwrap_err();
        assert_eq!(refused.to_string(), "challenge: the server answers 403");
    }

    #[tokio::test]
    async fn what_is_no_answer_is_refused() {
        for bad in [
            "",
            "SSH-2.0-x\r\n\r\n",
            "HTTP/1.1 200 OK\r\n\r\n",
            "HTTP/1.1 200 OK\r\ncontent-length: 99999\r\n\r\n",
            "HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nxy",
            "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}",
            "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n[\"nonce\"]",
        ] {
            assert!(nonce(&mut bad.as_bytes()).await.is_err(), "{bad}");
        }
        let endless = "x".repeat(HEAD_BYTES_MAX);
        assert!(read(endless.as_bytes()).is_err());
    }
}
