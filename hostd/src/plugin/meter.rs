//! What a version of a plugin has asked of others and told them, counted.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counts while it serves.
#[derive(Debug, Default)]
pub(super) struct Meter {
    requests: AtomicU64,
    unanswered: AtomicU64,
    notices: AtomicU64,
}

/// What was counted so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Asked {
    /// Requests to others, redirects included.
    pub requests: u64,
    /// Those that got no answer.
    pub unanswered: u64,
    /// Messages for webhooks that were stored.
    pub notices: u64,
}

impl Meter {
    /// A request has left for another server, and whether it was answered.
    pub(super) fn requested(&self, is_answered: bool) {
        self.requests.fetch_add(1, Ordering::Relaxed);
        if !is_answered {
            self.unanswered.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A message was stored.
    pub(super) fn told(&self) {
        self.notices.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn asked(&self) -> Asked {
        Asked {
            requests: self.requests.load(Ordering::Relaxed),
            unanswered: self.unanswered.load(Ordering::Relaxed),
            notices: self.notices.load(Ordering::Relaxed),
        }
    }
}
