//! Who watches a check: told how far it is, asked whether to go on.

/// Watches a check. Called from many threads.
pub trait Observer: Sync {
    /// A stage has begun.
    fn stage(&self, _name: &'static str) {}

    /// Whether to stop. Asked for every net, at least.
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Nobody.
impl Observer for () {}

/// A check that was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the check was stopped")]
pub struct Cancelled;
