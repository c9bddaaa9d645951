//! A line for somebody in this process: what the target says from now on, and what is said to it.

use bytes::Bytes;
use tokio::sync::Mutex;

use super::line::{Chunk, End, Request, Seat, WRITE_BYTES_MAX};
use base::ring::{Cursor, Found};

/// A share of a line. Dropping it leaves the line.
#[derive(Debug)]
pub struct Tap {
    seat: Seat,
    bytes: Mutex<Cursor<Chunk>>,
}

/// Why a line ended.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TapEnd {
    #[error("the lease that let it in is over")]
    LeaseLost,
    #[error("the pod is offline: {0}")]
    Offline(String),
    #[error("the pod refused: {0}")]
    Refused(String),
    #[error("{0}")]
    Failed(String),
    #[error("another lease holds the device: one may listen, not write")]
    ReadOnly,
}

impl Tap {
    pub(super) fn new(seat: Seat) -> Self {
        let bytes = &seat.line().bytes;
        let bytes = Mutex::new(bytes.cursor(bytes.end()));
        Self { seat, bytes }
    }

    /// What the target said next. What was overwritten before it was read is skipped. May be dropped before it is done.
    ///
    /// # Errors
    /// The line has ended.
    pub async fn read(&self) -> Result<Vec<u8>, TapEnd> {
        let mut bytes = self.bytes.lock().await;
        loop {
            tokio::select! {
                biased;
                found = bytes.next() => match found {
                    Some(Found::Piece { piece, .. }) => return Ok(piece.0),
                    Some(Found::Lost { .. }) => {}
                    None => return Err(self.end().await),
                },
                end = self.end() => return Err(end),
            }
        }
    }

    /// Say something to the target, in its order.
    ///
    /// # Errors
    /// The line has ended, or the tap may only listen.
    pub async fn write(&self, bytes: &[u8]) -> Result<(), TapEnd> {
        if !self.seat.drives {
            return Err(TapEnd::ReadOnly);
        }
        for part in bytes.chunks(WRITE_BYTES_MAX) {
            let request = Request::Write(Bytes::copy_from_slice(part));
            let sent = self.seat.line().requests.send(request);
            tokio::select! {
                biased;
                end = self.end() => return Err(end),
                sent = sent => if sent.is_err() {
                    return Err(self.end().await);
                },
            }
        }
        Ok(())
    }

    /// Resolves when the line ends.
    async fn end(&self) -> TapEnd {
        match self.seat.line().over().await {
            End::LeaseLost => TapEnd::LeaseLost,
            End::Offline(reason) => TapEnd::Offline(reason),
            End::Refused(reason) => TapEnd::Refused(reason),
            End::Failed(error) => TapEnd::Failed(error.to_string()),
            End::Unused => TapEnd::Failed("nobody has it open".to_owned()),
        }
    }
}
