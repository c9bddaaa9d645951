//! Watches one call's time: wall time against the deadline, and time spent computing.
//!
//! The guest's epoch callback asks it at every tick; the future that drives the call reports when
//! it is being polled. Both hold the same meter, which is why its fields are atomics.

use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

/// Why the guest must stop now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Expired {
    #[error("deadline")]
    Deadline,
    #[error("compute time")]
    Compute,
}

/// Times in microseconds since `base`.
#[derive(Debug)]
pub(crate) struct Meter {
    base: Instant,
    compute_us_max: u64,
    deadline_us: AtomicU64,
    polled_since_us: AtomicU64,
    computed_us: AtomicU64,
}

impl Meter {
    pub(crate) fn new(compute_ms_max: u64) -> Self {
        Self {
            base: Instant::now(),
            compute_us_max: compute_ms_max.saturating_mul(1_000),
            deadline_us: AtomicU64::new(u64::MAX),
            polled_since_us: AtomicU64::new(0),
            computed_us: AtomicU64::new(0),
        }
    }

    /// Begin a call that must be over at `deadline`.
    pub(crate) fn start(&self, deadline: Instant) {
        let deadline_us = micros(deadline.saturating_duration_since(self.base));
        self.deadline_us.store(deadline_us, Ordering::Relaxed);
        self.computed_us.store(0, Ordering::Relaxed);
    }

    /// Called from inside the guest, and so while the call is being polled.
    pub(crate) fn check(&self) -> Result<(), Expired> {
        let now_us = self.now_us();
        let this_poll_us = now_us.saturating_sub(self.polled_since_us.load(Ordering::Relaxed));
        let computed_us = self.computed_us.load(Ordering::Relaxed) + this_poll_us;
        if now_us >= self.deadline_us.load(Ordering::Relaxed) {
            Err(Expired::Deadline)
        } else if computed_us >= self.compute_us_max {
            Err(Expired::Compute)
        } else {
            Ok(())
        }
    }

    /// Drive `call`, counting the time its polls take. It comes pinned, since it is kilobytes in
    /// size and every layer around it would move it.
    pub(crate) async fn watch<F: Future>(&self, mut call: Pin<&mut F>) -> F::Output {
        std::future::poll_fn(|cx| self.poll(call.as_mut(), cx)).await
    }

    fn poll<F: Future>(&self, call: Pin<&mut F>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let from_us = self.now_us();
        self.polled_since_us.store(from_us, Ordering::Relaxed);
        let outcome = call.poll(cx);
        let took_us = self.now_us().saturating_sub(from_us);
        self.computed_us.fetch_add(took_us, Ordering::Relaxed);
        outcome
    }

    fn now_us(&self) -> u64 {
        micros(self.base.elapsed())
    }
}

pub(crate) fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3_600);

    #[test]
    fn the_deadline_counts_from_outside() {
        let meter = Meter::new(u64::MAX);
        meter.start(Instant::now() + HOUR);
        assert_eq!(meter.check(), Ok(()));
        meter.start(Instant::now());
        assert_eq!(meter.check(), Err(Expired::Deadline));
    }

    #[tokio::test]
    async fn computing_counts_over_all_polls_and_anew_for_every_call() {
        let meter = Meter::new(1);
        meter.start(Instant::now() + HOUR);
        let busy = std::pin::pin!(async {
            for _ in 0..2 {
                let from = Instant::now();
                while from.elapsed() < Duration::from_millis(1) {
                    std::hint::spin_loop();
                }
                tokio::task::yield_now().await;
            }
            meter.check()
        });
        assert_eq!(meter.watch(busy).await, Err(Expired::Compute));
        meter.start(Instant::now() + HOUR);
        assert_eq!(meter.computed_us.load(Ordering::Relaxed), 0);
    }
}
