//! One line: what its clients share with the task that keeps it.

use std::sync::Arc;

use bytes::Bytes;
use pods::Parity;
use tokio::sync::{Notify, mpsc, watch};

use super::control::Notice;
use super::{Setting, UartError};
use base::ring::{Piece, Ring};

/// Bytes of the target's output kept for clients that reconnect and for slow ones.
const BYTES_KEPT_MAX: usize = 256 << 10;

/// Longest run of bytes that is sent in one message.
const RUN_BYTES_MAX: usize = 4 << 10;

/// Notices kept for slow clients, in bytes.
const NOTICES_KEPT_MAX: usize = 16 << 10;

/// Writes that wait for the pod; each at most [`WRITE_BYTES_MAX`].
const REQUESTS_MAX: usize = 16;

/// Bytes handed to the pod at once: even the slowest line sends them in seconds.
pub(super) const WRITE_BYTES_MAX: usize = 256;

/// What the clients and the keeper share.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) bytes: Ring<Chunk>,
    pub(super) notices: Ring<Notice>,
    pub(super) requests: mpsc::Sender<Request>,
    setting: watch::Sender<Setting>,
    stage: watch::Sender<Stage>,
    clients: watch::Sender<usize>,
    /// A stale one ends a later line early, which does no harm.
    hurry: Notify,
    fence: u64,
}

/// What a client wants of the line.
#[derive(Debug)]
pub(super) enum Request {
    Write(Bytes),
    Baud(u32),
    Parity(Parity),
    /// Milliseconds.
    Break(u64),
}

/// The state of a line.
#[derive(Debug, Clone)]
enum Stage {
    Opening,
    Open,
    /// The pod is still being released.
    Ending(End),
    Gone(End),
}

/// Why a line ends.
#[derive(Debug, Clone)]
pub(super) enum End {
    /// It could not be opened.
    Failed(UartError),
    LeaseLost,
    Offline(String),
    Refused(String),
    /// Nobody has it open.
    Unused,
}

/// Consecutive bytes of the target.
#[derive(Debug, Clone)]
pub(super) struct Chunk(pub(super) Vec<u8>);

impl Piece for Chunk {
    fn positions(&self) -> u64 {
        self.0.len() as u64
    }

    fn weight(&self) -> usize {
        self.0.len()
    }

    fn after(&self, positions: u64) -> Self {
        let from = usize::try_from(positions).unwrap_or(usize::MAX);
        Self(self.0.get(from..).unwrap_or_default().to_vec())
    }

    fn absorb(&mut self, next: &Self) -> bool {
        let fits = self.0.len() + next.0.len() <= RUN_BYTES_MAX;
        if fits {
            self.0.extend_from_slice(&next.0);
        }
        fits
    }
}

impl Line {
    /// A line that is being opened, and the receiver of its keeper's requests.
    pub(super) fn new(fence: u64, setting: Setting, start: u64) -> (Self, mpsc::Receiver<Request>) {
        let (requests, taken) = mpsc::channel(REQUESTS_MAX);
        let line = Self {
            bytes: Ring::new(start, BYTES_KEPT_MAX),
            notices: Ring::new(0, NOTICES_KEPT_MAX),
            requests,
            setting: watch::Sender::new(setting),
            stage: watch::Sender::new(Stage::Opening),
            clients: watch::Sender::new(0),
            hurry: Notify::new(),
            fence,
        };
        (line, taken)
    }

    /// See [`Visit::fence`](crate::leases::Visit::fence).
    pub(super) fn fence(&self) -> u64 {
        self.fence
    }

    pub(super) fn setting(&self) -> Setting {
        *self.setting.borrow()
    }

    pub(super) fn set(&self, setting: Setting) {
        self.setting.send_replace(setting);
    }

    pub(super) fn clients(&self) -> usize {
        *self.clients.borrow()
    }

    pub(super) fn is_ending(&self) -> bool {
        matches!(&*self.stage.borrow(), Stage::Ending(_) | Stage::Gone(_))
    }

    pub(super) fn opened(&self) {
        self.stage.send_replace(Stage::Open);
    }

    /// The first reason stays.
    pub(super) fn end(&self, end: End) {
        self.stage.send_if_modified(|stage| {
            let first = !matches!(stage, Stage::Ending(_) | Stage::Gone(_));
            if first {
                *stage = Stage::Ending(end);
            }
            first
        });
    }

    pub(super) fn retire(&self) {
        self.stage.send_modify(|stage| {
            if let Stage::Ending(end) = stage {
                *stage = Stage::Gone(end.clone());
            }
        });
    }

    /// Do not linger.
    pub(super) fn hurry(&self) {
        self.hurry.notify_one();
    }

    /// Resolves when nobody has had the line open for as long as it lingers.
    pub(super) async fn unused(&self) {
        let mut clients = self.clients.subscribe();
        loop {
            // The sender is this line's own.
            let _ = clients.wait_for(|count| *count == 0).await;
            tokio::select! {
                () = tokio::time::sleep(super::LINGER) => return,
                () = self.hurry.notified() => return,
                _ = clients.wait_for(|count| *count > 0) => {}
            }
        }
    }

    /// Resolves when the line ends, with the reason.
    pub(super) async fn over(&self) -> End {
        let mut stage = self.stage.subscribe();
        let over = stage.wait_for(|s| matches!(s, Stage::Ending(_) | Stage::Gone(_)));
        match over.await.as_deref() {
            Ok(Stage::Ending(end) | Stage::Gone(end)) => end.clone(),
            Ok(Stage::Opening | Stage::Open) | Err(_) => End::Unused,
        }
    }

    /// Resolves when the line has released the pod.
    pub(super) async fn gone(&self) {
        let mut stage = self.stage.subscribe();
        // The sender is this line's own.
        let _ = stage.wait_for(|s| matches!(s, Stage::Gone(_))).await;
    }
}

/// A client's share of a line.
#[derive(Debug)]
pub(super) struct Seat {
    line: Arc<Line>,
    /// Whether the client may write; the others listen.
    pub(super) drives: bool,
}

impl Seat {
    pub(super) fn take(line: Arc<Line>, drives: bool) -> Self {
        line.clients.send_modify(|count| *count += 1);
        Self { line, drives }
    }

    pub(super) fn line(&self) -> &Arc<Line> {
        &self.line
    }

    /// Resolves when the line is open.
    ///
    /// # Errors
    /// Why it could not be opened.
    pub(super) async fn opened(&self) -> Result<(), UartError> {
        let mut stage = self.line.stage.subscribe();
        let known = stage.wait_for(|s| !matches!(s, Stage::Opening)).await;
        let ended = |text: &str| Err(UartError::InUse(text.to_owned()));
        match known.as_deref() {
            Ok(Stage::Ending(end) | Stage::Gone(end)) => match end {
                End::Failed(error) => Err(error.clone()),
                End::Offline(_) => Err(UartError::Offline),
                End::Refused(text) => Err(UartError::Refused(text.clone())),
                End::LeaseLost => ended("the device is changing hands"),
                End::Unused => ended("a UART session is ending"),
            },
            Ok(Stage::Opening | Stage::Open) | Err(_) => Ok(()),
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.line.clients.send_modify(|count| *count -= 1);
    }
}
