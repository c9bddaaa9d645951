//! A debug-probe session for a thread of its own, such as one that runs a flash algorithm. Any
//! other thread can cancel it, and it never waits beyond its deadline.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::DapSession;
use crate::pod::PodError;

/// Why an exchange failed. After any of them the session can only be closed.
#[derive(Debug, thiserror::Error)]
pub enum DapError {
    /// Somebody cancelled it.
    #[error("cancelled")]
    Cancelled,
    /// The total time is over.
    #[error("the time for the whole debug session is over")]
    Deadline,
    /// The pod or the connection to it failed.
    #[error(transparent)]
    Pod(#[from] PodError),
}

impl From<DapError> for io::Error {
    fn from(error: DapError) -> Self {
        let kind = match &error {
            DapError::Cancelled => io::ErrorKind::ConnectionAborted,
            DapError::Deadline | DapError::Pod(PodError::Timeout { .. }) => io::ErrorKind::TimedOut,
            DapError::Pod(PodError::Protocol(_)) => io::ErrorKind::InvalidData,
            DapError::Pod(_) => io::ErrorKind::BrokenPipe,
        };
        Self::new(kind, error)
    }
}

/// Cancels a [`BlockingDap`]: an exchange that is under way returns at once.
#[derive(Debug, Clone)]
pub struct DapCancel(Arc<watch::Sender<bool>>);

impl DapCancel {
    /// Cancels it, for good.
    pub fn cancel(&self) {
        self.0.send_replace(true);
    }
}

/// A debug-probe session whose exchanges block the calling thread.
pub struct BlockingDap {
    session: DapSession,
    runtime: Handle,
    cancelled: watch::Receiver<bool>,
    deadline: Instant,
    packet_timeout: Duration,
}

impl DapSession {
    /// Hands the session to a blocking thread. One exchange may take `packet_timeout`, all together
    /// may last until `deadline`. Call it within the tokio runtime that drives the pod.
    pub fn blocking(self, packet_timeout: Duration, deadline: Instant) -> (BlockingDap, DapCancel) {
        let (cancel, cancelled) = watch::channel(false);
        let blocking = BlockingDap {
            session: self,
            runtime: Handle::current(),
            cancelled,
            deadline,
            packet_timeout,
        };
        (blocking, DapCancel(Arc::new(cancel)))
    }
}

impl BlockingDap {
    /// Sends one packet and returns its answer. Must not be called on a thread that runs async
    /// tasks.
    ///
    /// # Errors
    /// [`DapError`].
    pub fn exchange(&mut self, packet: &[u8]) -> Result<Vec<u8>, DapError> {
        let wait = self.packet_timeout;
        self.bounded(async |session| session.exchange(packet, wait).await)
    }

    /// Sends several packets, at most as many as the pod accepts ahead, and returns their answers in
    /// the same order. Must not be called on a thread that runs async tasks.
    ///
    /// # Errors
    /// [`DapError`].
    pub fn exchange_all(&mut self, packets: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, DapError> {
        let wait = self.packet_timeout;
        self.bounded(async |session| session.exchange_all(packets, wait).await)
    }

    fn bounded<T>(
        &mut self,
        act: impl AsyncFnOnce(&mut DapSession) -> Result<T, PodError>,
    ) -> Result<T, DapError> {
        let runtime = self.runtime.clone();
        runtime.block_on(async {
            tokio::select! {
                biased;
                Ok(_) = self.cancelled.wait_for(|cancelled| *cancelled) => Err(DapError::Cancelled),
                () = sleep_until(self.deadline) => Err(DapError::Deadline),
                answer = act(&mut self.session) => Ok(answer?),
            }
        })
    }

    /// Returns the session, to be closed cleanly.
    pub fn into_session(self) -> DapSession {
        self.session
    }
}
