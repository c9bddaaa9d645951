//! A way to end a job at any moment, from another thread.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Ends a job: what runs at once, and whatever comes after it. Cloning shares it.
#[derive(Clone, Default)]
pub struct Cancel(Arc<Inner>);

#[derive(Default)]
struct Inner {
    is_set: AtomicBool,
    acts: Mutex<Acts>,
    has_changed: Condvar,
}

/// What cancelling does, by number.
#[derive(Default)]
struct Acts {
    next: u64,
    all: BTreeMap<u64, Box<dyn Fn() + Send>>,
}

/// Ends with [`Cancel::when_set`] when it is dropped.
#[must_use = "nothing is watched once this is dropped"]
pub struct Watching {
    cancel: Cancel,
    number: u64,
}

impl Cancel {
    /// Ends the job. What has ended stays as it is.
    pub fn cancel(&self) {
        let acts = self.lock();
        if !self.0.is_set.swap(true, Ordering::SeqCst) {
            acts.all.values().for_each(|act| act());
        }
        self.0.has_changed.notify_all();
    }

    /// True once somebody has ended the job.
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.0.is_set.load(Ordering::SeqCst)
    }

    /// From now on cancelling does this too, once; at once, if it was cancelled before. It must be quick and leave
    /// this alone.
    pub fn when_set(&self, act: impl Fn() + Send + 'static) -> Watching {
        let mut acts = self.lock();
        if self.is_set() {
            act();
        }
        let number = acts.next;
        acts.next += 1;
        acts.all.insert(number, Box::new(act));
        Watching {
            cancel: self.clone(),
            number,
        }
    }

    /// Waits until then. True if it was cancelled before.
    #[must_use]
    pub fn wait_until(&self, at: Instant) -> bool {
        let mut acts = self.lock();
        loop {
            let left = at.saturating_duration_since(Instant::now());
            if self.is_set() || left.is_zero() {
                return self.is_set();
            }
            let waited = self.0.has_changed.wait_timeout(acts, left);
            (acts, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Acts> {
        self.0.acts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.cancel.lock().all.remove(&self.number);
    }
}

impl fmt::Debug for Cancel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Cancel").field(&self.is_set()).finish()
    }
}

impl fmt::Debug for Watching {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Watching").field(&self.number).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;
    use std::time::Duration;

    use super::*;

    #[test]
    fn whoever_watches_hears_of_it_once() {
        let cancel = Cancel::default();
        let count = Arc::new(AtomicUsize::new(0));
        let watch = || {
            let count = Arc::clone(&count);
            cancel.when_set(move || {
                count.fetch_add(1, Ordering::SeqCst);
            })
        };
        drop(watch());
        let _early = watch();
        assert!(!cancel.wait_until(Instant::now() + Duration::from_millis(1)));
        cancel.cancel();
        cancel.cancel();
        assert_eq!(count.load(Ordering::SeqCst), 1);
        let _late = watch();
        assert_eq!(count.load(Ordering::SeqCst), 2);
    }

    #[test]
    fn cancelling_ends_a_wait() {
        let cancel = Cancel::default();
        let begun = Instant::now();
        std::thread::scope(|scope| {
            let waiting =
                scope.spawn(|| cancel.wait_until(Instant::now() + Duration::from_secs(60)));
            cancel.cancel();
            assert!(waiting.join().unwrap());
        });
        assert!(begun.elapsed() < Duration::from_secs(30));
    }
}
