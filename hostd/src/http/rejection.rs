//! Turns the HTTP library's own answers to heads that it cannot parse into the one error shape.
//!
//! The library calls no handler and no hook then: its answer, a bare head, goes straight to the
//! connection. So it is recognised there, while no answer of ours is under way, and replaced.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::StatusCode;
use serde_json::json;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tracing::debug;

use super::flow::Flows;
use base::id;

/// A connection whose bare refusals are replaced. `refused` is called with the status of each.
pub struct Rejections<S, F> {
    stream: S,
    flows: Arc<Flows>,
    refused: F,
    /// The unsent rest of what replaces a bare refusal, and the refusal's length.
    instead: Option<(Vec<u8>, usize)>,
}

impl<S, F> Rejections<S, F> {
    #[must_use]
    pub fn new(stream: S, flows: Arc<Flows>, refused: F) -> Self {
        Self {
            stream,
            flows,
            refused,
            instead: None,
        }
    }
}

impl<S: AsyncWrite + Unpin, F: Fn(StatusCode) + Unpin> Rejections<S, F> {
    /// Writes what replaces `bytes`, if anything does.
    fn poll_instead(
        &mut self,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Option<Poll<io::Result<usize>>> {
        if self.instead.is_none() && self.flows.are_idle() {
            let (status, date) = bare(bytes)?;
            (self.refused)(status);
            self.instead = Some((answer(status, date), bytes.len()));
        }
        let (rest, length) = self.instead.as_mut()?;
        while !rest.is_empty() {
            match Pin::new(&mut self.stream).poll_write(cx, rest) {
                Poll::Ready(Ok(0)) => {
                    return Some(Poll::Ready(Err(io::ErrorKind::WriteZero.into())));
                }
                Poll::Ready(Ok(written)) => drop(rest.drain(..written)),
                Poll::Ready(Err(error)) => return Some(Poll::Ready(Err(error))),
                Poll::Pending => return Some(Poll::Pending),
            }
        }
        let length = *length;
        self.instead = None;
        Some(Poll::Ready(Ok(length)))
    }
}

/// Status and date of a refusal without a body that is not ours.
fn bare(bytes: &[u8]) -> Option<(StatusCode, &str)> {
    let head = bytes.strip_prefix(b"HTTP/1.1 ")?;
    let head = std::str::from_utf8(head).ok()?.strip_suffix("\r\n\r\n")?;
    let mut lines = head.split("\r\n");
    let status = lines.next()?.get(..3)?.parse().ok()?;
    let known = [
        StatusCode::BAD_REQUEST,
        StatusCode::URI_TOO_LONG,
        StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
    ];
    let mut date = "";
    for line in lines {
        match line.split_once(": ")? {
            ("connection", "close") | ("content-length", "0") => {}
            ("date", value) => date = value,
            _ => return None,
        }
    }
    known.contains(&status).then_some((status, date))
}

/// The refusal in our shape. The connection ends with it.
fn answer(status: StatusCode, date: &str) -> Vec<u8> {
    let (code, message) = match status {
        StatusCode::URI_TOO_LONG => ("path_too_long", "the URL of the request is too long"),
        StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE => (
            "head_too_large",
            "the header fields of the request are too many, or longer than http.head_bytes_max in all",
        ),
        _ => (
            "invalid_request",
            "this is no HTTP request that can be read in one way only; check its first line and its header fields, end each \
             line with CR LF, and send Content-Length or Transfer-Encoding, not both",
        ),
    };
    let request_id = id::request_id();
    debug!(
        request_id,
        status = status.as_u16(),
        "a head that cannot be read"
    );
    let body = json!({"error": message, "code": code, "request_id": request_id}).to_string();
    let reason = status.canonical_reason().unwrap_or_default();
    let (status, length) = (status.as_u16(), body.len());
    format!(
        "HTTP/1.1 {status} {reason}\r\nconnection: close\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\nx-request-id: {request_id}\r\nx-content-type-options: nosniff\r\n\
         date: {date}\r\n\r\n{body}"
    )
    .into_bytes()
}

impl<S: AsyncRead + Unpin, F: Unpin> AsyncRead for Rejections<S, F> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin, F: Fn(StatusCode) + Unpin> AsyncWrite for Rejections<S, F> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.poll_instead(cx, bytes) {
            Some(written) => written,
            None => Pin::new(&mut self.stream).poll_write(cx, bytes),
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let mut filled = parts.iter().filter(|part| !part.is_empty());
        if let (Some(only), None) = (filled.next(), filled.next())
            && let Some(written) = self.poll_instead(cx, only)
        {
            return written;
        }
        Pin::new(&mut self.stream).poll_write_vectored(cx, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BARE: &str = "HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\ndate: now\r\n\r\n";

    #[test]
    fn only_a_bare_refusal_is_replaced() {
        let status = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
        assert_eq!(bare(BARE.as_bytes()), Some((status, "now")));
        for (part, other) in [
            ("431", "200"),
            ("431", "4x1"),
            ("HTTP/1.1", "HTTP/1.0"),
            ("length: 0", "length: 1"),
            ("date: now", "x-request-id: 1"),
            ("\r\n\r\n", "\r\n\r\nrest"),
            ("\r\n\r\n", "\r\n"),
            ("connection: close\r\n", "connection\r\n"),
        ] {
            let head = BARE.replacen(part, other, 1);
            assert_eq!(bare(head.as_bytes()), None, "{head}");
        }
    }

    #[test]
    fn what_goes_out_is_a_whole_answer() {
        for status in [400, 414, 431] {
            let status = StatusCode::from_u16(status).unwrap();
            let text = String::from_utf8(answer(status, "now")).unwrap();
            let (head, body) = text.split_once("\r\n\r\n").unwrap();
            assert!(head.contains(&format!("content-length: {}\r\n", body.len())));
            let body: serde_json::Value = serde_json::from_str(body).unwrap();
            let id = body["request_id"].as_str().unwrap();
            assert!(head.contains(&format!("x-request-id: {id}\r\n")));
            assert_eq!(bare(text.as_bytes()), None);
        }
    }
}
