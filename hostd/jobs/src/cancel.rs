//! A way to end a job at any moment, from another thread.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use jail::Killer;

/// Ends a job: the step that runs at once, and whatever comes after it. Cloning shares it.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    is_set: AtomicBool,
    running: Mutex<Option<Killer>>,
}

impl Cancel {
    /// Ends the job. What has ended stays as it is.
    pub fn cancel(&self) {
        self.0.is_set.store(true, Ordering::SeqCst);
        if let Some(killer) = &*self.lock() {
            killer.kill();
        }
    }

    /// True once somebody has ended the job.
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.0.is_set.load(Ordering::SeqCst)
    }

    /// From now on cancelling ends this jail.
    pub(crate) fn watch(&self, killer: Killer) {
        let mut running = self.lock();
        // Whoever cancels sets the mark before looking here, so one of the two sees it.
        if self.is_set() {
            killer.kill();
        }
        *running = Some(killer);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Killer>> {
        self.0
            .running
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
