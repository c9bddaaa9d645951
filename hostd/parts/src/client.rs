//! The client's side of a connection: sends and receives lines and raw bytes.

use pod_protocol::REQUEST_LINE_BYTES_MAX;
use pod_protocol::connection::lines::{LineError, Lines};
use serde_json::{Map, Value, json};
use tokio::io::DuplexStream;
use tokio::time::{Duration, timeout};

use crate::refuse::Refuse;

/// A client that accepts nothing for this long is given up.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);

/// The client has gone, or no longer accepts anything.
#[derive(Debug)]
pub(crate) struct Gone;

/// The client's side of a session.
pub(crate) struct Client {
    lines: Lines<DuplexStream>,
}

impl Client {
    pub(crate) fn new(stream: DuplexStream) -> Self {
        Self {
            lines: Lines::new(stream, REQUEST_LINE_BYTES_MAX),
        }
    }

    /// The next request; empty lines are none.
    pub(crate) async fn request(&mut self) -> Result<Result<Map<String, Value>, Refuse>, Gone> {
        loop {
            match self.lines.read().await {
                Ok(Some(line)) if line.trim_ascii().is_empty() => {}
                Ok(Some(line)) => {
                    return Ok(serde_json::from_slice(line).map_err(|_| Refuse::NotObject));
                }
                Ok(None) | Err(LineError::Io(_)) => return Err(Gone),
                Err(LineError::TooLong { limit }) => {
                    return Ok(Err(Refuse::RequestTooLong { limit }));
                }
            }
        }
    }

    /// Sends the reply to a request.
    pub(crate) async fn reply(&mut self, reply: Result<Value, Refuse>) -> Result<(), Gone> {
        let line = match reply {
            Ok(data) => json!({"status": "ok", "data": data}),
            Err(refusal) => json!({"status": "error", "message": refusal.to_string()}),
        };
        self.line(&line).await
    }

    /// Sends one line.
    pub(crate) async fn line(&mut self, line: &Value) -> Result<(), Gone> {
        let mut line = line.to_string().into_bytes();
        line.push(b'\n');
        self.write_raw(&line).await
    }

    /// Bytes of a raw mode. Cancelling loses nothing.
    pub(crate) async fn read_raw(&mut self, most: usize) -> Result<Vec<u8>, Gone> {
        match self.lines.read_raw(most).await {
            Ok(bytes) if !bytes.is_empty() => Ok(bytes),
            Ok(_) | Err(_) => Err(Gone),
        }
    }

    pub(crate) async fn write_raw(&mut self, bytes: &[u8]) -> Result<(), Gone> {
        match timeout(WRITE_TIMEOUT, self.lines.write_raw(bytes)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(Gone),
        }
    }

    /// Ends when the client closes.
    pub(crate) async fn closed(&mut self) {
        self.lines.closed().await;
    }
}
