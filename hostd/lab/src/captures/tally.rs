//! What was received of captures since the server started, for its metrics.

use std::sync::atomic::{AtomicU64, Ordering};

use pods::Frame;

use super::Captures;

/// Counts of all captures.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Instants at which all channels of a kind were sampled.
    received: AtomicU64,
    gaps: AtomicU64,
    lost: AtomicU64,
}

/// What was received, and what was lost on the way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Received {
    /// Samples of analog inputs, and of logic analyzers all channels at once; without those that were lost.
    pub samples: u64,
    /// Stretches of samples that were lost.
    pub gaps: u64,
    /// Samples in them.
    pub lost: u64,
}

impl Tally {
    /// Counts a frame that reaches from some logic sample on.
    pub(super) fn take(&self, frame: &Frame, logic_before: u64) {
        let samples = match frame {
            Frame::Adc { counts, .. } => counts.len() as u64,
            Frame::La { upto, .. } => upto.saturating_sub(logic_before),
        };
        self.received.fetch_add(samples, Ordering::Relaxed);
    }

    /// Counts samples that came as a frame, and were lost in truth.
    pub(super) fn lose(&self, samples: u64, is_new: bool) {
        self.received.fetch_sub(samples, Ordering::Relaxed);
        self.lost.fetch_add(samples, Ordering::Relaxed);
        self.gaps.fetch_add(u64::from(is_new), Ordering::Relaxed);
    }
}

impl Captures {
    /// Captures that have not finished: those that wait for their pod, too.
    #[must_use]
    pub fn in_progress(&self) -> u64 {
        self.running().len() as u64
    }

    /// What was received since the start.
    #[must_use]
    pub fn received(&self) -> Received {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Received {
            samples: of(&self.tally.received),
            gaps: of(&self.tally.gaps),
            lost: of(&self.tally.lost),
        }
    }
}
