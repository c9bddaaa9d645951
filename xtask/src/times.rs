//! How long something takes: wall time, and the processor time of the programs that it starts.

use std::time::{Duration, Instant};

pub(crate) mod log;
pub(crate) mod processor;
pub(crate) mod shim;

/// What something took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Spent {
    pub(crate) wall: Duration,
    /// Of the programs that it started and waited for, and of those that they waited for. `None` where the system does not
    /// say it.
    pub(crate) processor: Option<Duration>,
}

/// Runs `work`, and returns what it took beside its result.
pub(crate) fn spent<T>(work: impl FnOnce() -> T) -> (T, Spent) {
    let (start, before) = (Instant::now(), processor::used());
    let result = work();
    let used = processor::used().zip(before);
    let spent = Spent {
        wall: start.elapsed(),
        processor: used.map(|(after, before)| after.saturating_sub(before)),
    };
    (result, spent)
}
