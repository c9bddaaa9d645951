//! A debt: the safe state that a device owes after a lease, or before it is removed.

use store::leases::Why;

/// After so long, people hear what keeps a device from its safe state.
pub(crate) const OBSTACLE_AFTER_MS: u64 = 60_000;

/// A safe state that is owed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Debt {
    pub(crate) fence: u64,
    pub why: Why,
    /// By the wall clock, for people.
    pub since_ms: u64,
    /// By the steady clock.
    pub(super) began_ms: u64,
    /// What stands in the way now, as a fragment.
    pub(super) obstacle: Option<String>,
}

impl Debt {
    /// As it was stored.
    #[must_use]
    pub(crate) fn stored(fence: u64, why: Why, since_ms: u64) -> Self {
        Self {
            fence,
            why,
            since_ms,
            began_ms: 0,
            obstacle: None,
        }
    }

    /// What stands in the way, as a fragment, if that has taken [`OBSTACLE_AFTER_MS`].
    #[must_use]
    pub(crate) fn obstacle(&self, now_ms: u64) -> Option<String> {
        let is_late = self.began_ms + OBSTACLE_AFTER_MS <= now_ms;
        self.obstacle.clone().filter(|_| is_late)
    }
}
