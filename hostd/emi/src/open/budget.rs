//! How much may be compared. Looking for what is near is quick on any real board; a stranger may put everything on one spot.

use super::error::{OpenError, Steps};
use crate::limits::Limits;
use crate::observer::Observer;

/// Comparisons that are left.
pub(super) struct Budget<'a> {
    left: usize,
    watch: Steps<'a>,
    observer: &'a dyn Observer,
}

impl<'a> Budget<'a> {
    pub(super) fn new(limits: &Limits, observer: &'a dyn Observer) -> Self {
        Self {
            left: limits.pairs_max,
            watch: Steps::new(observer),
            observer,
        }
    }

    /// Whether to stop, for those who are asked from any thread.
    pub(super) fn stop(&self) -> impl Fn() -> bool + Sync + use<'a> {
        let observer = self.observer;
        move || observer.is_over()
    }

    /// Takes so many off.
    pub(super) fn spend(&mut self, count: usize) -> Result<(), OpenError> {
        self.watch.step()?;
        self.left = self.left.checked_sub(count).ok_or_else(|| {
            OpenError::whole(
                "too much copper or too many holes lie on one spot to see what touches what",
            )
        })?;
        Ok(())
    }
}
