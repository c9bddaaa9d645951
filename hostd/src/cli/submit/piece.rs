//! A piece of the log of an attempt, fetched as text: the way to follow a job where no WebSocket gets through.

use std::io::Read;

use anyhow::Context;
use http::HeaderMap;
use ureq::SendBody;

use super::server::{Failed, Server};

/// Largest piece: more than the log of an attempt may have.
const PIECE_BYTES_MAX: u64 = 1 << 30;

/// What an attempt wrote from an offset on.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) text: Vec<u8>,
    /// Where the next one begins. What was left out of the log is told in the text and counted by nobody.
    pub(super) end: u64,
    /// Whether there will be no other.
    pub(super) is_last: bool,
}

/// Fetches all that there is, or nothing.
///
/// # Errors
/// The server does not give it, or it breaks off.
pub(super) fn fetch(
    server: &Server,
    job: &str,
    attempt: u64,
    offset: u64,
) -> Result<Piece, Failed> {
    let path = format!("/jobs/{job}/log?attempt={attempt}&offset={offset}");
    let mut answer = server.send("GET", &path, &[], SendBody::none())?;
    let (end, is_last) = told(answer.headers()).map_err(Failed::Here)?;
    let mut text = Vec::new();
    let body = answer.body_mut().with_config().limit(PIECE_BYTES_MAX);
    let read = body.reader().read_to_end(&mut text);
    read.context("read the log").map_err(Failed::Lost)?;
    Ok(Piece {
        text,
        end: end.max(offset),
        is_last,
    })
}

/// How far the log is, and whether it goes no further.
fn told(headers: &HeaderMap) -> anyhow::Result<(u64, bool)> {
    let text = |name: &str| {
        let value = headers.get(name).and_then(|value| value.to_str().ok());
        value.with_context(|| {
            format!("understand the answer: it has no header {name}; let what is in front of the server pass it on")
        })
    };
    let end = text("x-log-bytes")?;
    let end = end.parse().context("understand the header x-log-bytes")?;
    Ok((end, text("x-log-complete")? == "true"))
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn headers_tell_where_the_next_piece_begins() {
        let of = |bytes: Option<&'static str>, complete: Option<&'static str>| {
            let mut headers = HeaderMap::new();
            for (name, value) in [("x-log-bytes", bytes), ("x-log-complete", complete)] {
                if let Some(value) = value {
                    headers.insert(name, HeaderValue::from_static(value));
                }
            }
            told(&headers).map_err(|error| format!("{error:#}"))
        };
        assert_eq!(of(Some("17"), Some("false")), Ok((17, false)));
        assert_eq!(of(Some("0"), Some("true")), Ok((0, true)));
        let lacks = of(Some("17"), None).unwrap_err();
        assert!(lacks.contains("no header x-log-complete"), "{lacks}");
        assert!(of(None, Some("true")).is_err());
        assert!(of(Some("-1"), Some("true")).is_err());
    }
}
