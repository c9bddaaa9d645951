//! A debt: the safe state that a device owes after a lease, or before it is removed.

use store::leases::Why;

/// A safe state that is owed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Debt {
    pub(crate) fence: u64,
    pub why: Why,
    /// By the wall clock, for people.
    pub since_ms: u64,
    /// By the steady clock.
    pub(super) began_ms: u64,
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
        }
    }
}
