//! One command connection: a request line out, a reply line in.

use std::time::Duration;

use pod_protocol::connection::lines::Lines;
use pod_protocol::connection::{BoxedStream, Connecting};
use pod_protocol::{REQUEST_LINE_BYTES_MAX, Reply};
use serde_json::{Map, Value};
use tokio::io::{AsyncRead, AsyncWrite};

use super::{PodError, ProtocolError};

/// Waits for a connection.
pub(super) async fn connect(
    connecting: Connecting<'_>,
    timeout: Duration,
) -> Result<BoxedStream, PodError> {
    match tokio::time::timeout(timeout, connecting).await {
        Ok(Ok(stream)) => Ok(stream),
        Ok(Err(error)) => Err(PodError::Offline {
            reason: format!("it cannot be connected: {error}"),
        }),
        Err(_) => Err(PodError::Offline {
            reason: format!("connecting took more than {} ms", timeout.as_millis()),
        }),
    }
}

/// The line of a request, compact and within the pod's limit.
pub(super) fn request_line(request: &Map<String, Value>) -> Result<Vec<u8>, PodError> {
    let line = serde_json::to_vec(request).expect("a JSON object with text keys can be written");
    if line.len() > REQUEST_LINE_BYTES_MAX {
        return Err(PodError::LineTooLong {
            bytes: line.len(),
            limit: REQUEST_LINE_BYTES_MAX,
        });
    }
    Ok(line)
}

/// Sends `line` and returns the data of its reply. Only after success and [`PodError::Refused`] is
/// the connection still in step.
pub(super) async fn exchange<S: AsyncRead + AsyncWrite + Unpin>(
    lines: &mut Lines<S>,
    verb: &str,
    line: Vec<u8>,
    timeout: Duration,
) -> Result<Value, PodError> {
    let exchanged = async {
        lines
            .write(line)
            .await
            .map_err(|error| PodError::from_line(verb, error))?;
        let reply = lines
            .read()
            .await
            .map_err(|error| PodError::from_line(verb, error))?
            .ok_or_else(PodError::closed)?;
        match Reply::parse(reply).map_err(ProtocolError::Reply)? {
            Reply::Done(data) => Ok(data),
            Reply::Refused(refusal) => Err(PodError::Refused(refusal)),
        }
    };
    tokio::time::timeout(timeout, exchanged)
        .await
        .unwrap_or_else(|_| Err(PodError::timeout(verb, timeout)))
}
