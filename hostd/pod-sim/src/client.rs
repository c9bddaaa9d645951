//! The client's side of a connection: sends and receives lines and raw bytes.

use std::sync::Arc;

use pod_protocol::REQUEST_LINE_BYTES_MAX;
use pod_protocol::connection::Stream;
use pod_protocol::connection::lines::Lines;
use serde_json::{Value, json};
use tokio::time::{Duration, timeout};

use super::refuse::Refuse;
use super::shared::Shared;

/// A client that accepts nothing for this long is given up.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);

/// The client has gone, or no longer accepts anything.
pub(crate) struct Gone;

/// The client's side of a session.
pub(crate) struct Client<S> {
    pub(crate) lines: Lines<S>,
    shared: Arc<Shared>,
}

impl<S: Stream> Client<S> {
    pub(crate) fn new(stream: S, shared: Arc<Shared>) -> Self {
        Self {
            lines: Lines::new(stream, REQUEST_LINE_BYTES_MAX),
            shared,
        }
    }

    /// Sends one line.
    pub(crate) async fn send(&mut self, line: &Value) -> Result<(), Gone> {
        let line = serde_json::to_vec(line).expect("a JSON value with text keys can be written");
        let mut lines = Vec::with_capacity(line.len() + 1);
        self.append(&mut lines, &line);
        self.write_raw(&lines).await
    }

    /// Adds a line and its line end to the bytes to send.
    pub(crate) fn append(&self, lines: &mut Vec<u8>, line: &[u8]) {
        let mut add = |line: &[u8]| {
            lines.extend(line);
            lines.push(b'\n');
        };
        let garbled = self.shared.faults.line(self.shared.seed);
        if let Some((garbage, _)) = &garbled {
            add(garbage);
        }
        if garbled.is_none_or(|(_, instead)| !instead) {
            add(line);
        }
    }

    pub(crate) async fn refuse(&mut self, refusal: &Refuse) -> Result<(), Gone> {
        self.send(&json!({"status": "error", "message": refusal.to_string()}))
            .await
    }

    /// Bytes of a raw mode; empty if the client has closed.
    pub(crate) async fn read_raw(&mut self, most: usize) -> Result<Vec<u8>, Gone> {
        self.lines.read_raw(most).await.map_err(|_| Gone)
    }

    pub(crate) async fn write_raw(&mut self, bytes: &[u8]) -> Result<(), Gone> {
        match timeout(WRITE_TIMEOUT, self.lines.write_raw(bytes)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(Gone),
        }
    }

    pub(crate) async fn ok(&mut self, data: Value) -> Result<(), Gone> {
        self.send(&json!({"status": "ok", "data": data})).await
    }

    /// Waits until this time of the pod.
    ///
    /// # Errors
    /// [`Gone`] if the client closes before that.
    pub(crate) async fn wait_until(&mut self, shared: &Shared, at_ns: u64) -> Result<(), Gone> {
        tokio::select! {
            () = shared.sleep_until(at_ns) => Ok(()),
            () = self.closed() => Err(Gone),
        }
    }

    /// Ends when the client closes.
    pub(crate) async fn closed(&mut self) {
        self.lines.closed().await;
    }
}
