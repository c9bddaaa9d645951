//! How a blocking job is stopped: by anybody at any time, or by the clock.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Ends a job before its next packet. Clones end the same job.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    is_cancelled: Arc<AtomicBool>,
    deadline: Option<Instant>,
}

/// Why a job must end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stopped {
    Cancelled,
    Deadline,
}

impl Stop {
    /// Ends the job only when it is cancelled.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Also ends the job at this instant.
    #[must_use]
    pub fn at(deadline: Instant) -> Self {
        Self {
            is_cancelled: Arc::default(),
            deadline: Some(deadline),
        }
    }

    /// Ends the job, for good.
    pub fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
    }

    pub(crate) fn check(&self) -> Result<(), Stopped> {
        if self.is_cancelled.load(Ordering::Relaxed) {
            return Err(Stopped::Cancelled);
        }
        match self.deadline {
            Some(deadline) if Instant::now() >= deadline => Err(Stopped::Deadline),
            _ => Ok(()),
        }
    }
}
