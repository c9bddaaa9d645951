//! The pod's time: the machine's, less the time that the target is computed in. However slow the machine is, what the target
//! does takes as long as on a real bench, in the pod's time.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::time::{Duration, Instant};

pub(crate) struct Clock {
    epoch: Instant,
    stops: Mutex<Stops>,
}

/// When the clock stood still.
struct Stops {
    total: Duration,
    since: Option<Instant>,
}

/// The clock stands still until this is dropped.
pub(crate) struct Stopped<'a> {
    clock: &'a Clock,
    now_ns: u64,
}

impl Clock {
    /// A clock that starts now, at zero.
    pub(crate) fn new() -> Self {
        Self {
            epoch: Instant::now(),
            stops: Mutex::new(Stops {
                total: Duration::ZERO,
                since: None,
            }),
        }
    }

    /// Nanoseconds since the start; never less than before.
    pub(crate) fn now_ns(&self) -> u64 {
        self.at_ns(&self.stops())
    }

    /// The earliest instant at which the clock can show this time.
    pub(crate) fn instant(&self, ns: u64) -> Instant {
        let stops = self.stops();
        let stopped = stops.since.map_or(Duration::ZERO, |since| since.elapsed());
        self.epoch + stops.total + stopped + Duration::from_nanos(ns)
    }

    /// Waits until the clock shows this time.
    pub(crate) async fn sleep_until(&self, ns: u64) {
        while self.now_ns() < ns {
            tokio::time::sleep_until(self.instant(ns)).await;
        }
    }

    /// Stops the clock. It is stopped once at a time.
    pub(crate) fn stop(&self) -> Stopped<'_> {
        let mut stops = self.stops();
        debug_assert!(stops.since.is_none(), "stopped twice");
        stops.since = Some(Instant::now());
        let now_ns = self.at_ns(&stops);
        Stopped {
            clock: self,
            now_ns,
        }
    }

    fn at_ns(&self, stops: &Stops) -> u64 {
        let now = stops.since.unwrap_or_else(Instant::now);
        let shown = (now - self.epoch).saturating_sub(stops.total);
        u64::try_from(shown.as_nanos()).expect("a pod runs for less than 584 years")
    }

    fn stops(&self) -> MutexGuard<'_, Stops> {
        self.stops.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Stopped<'_> {
    /// The time that the clock shows meanwhile.
    pub(crate) fn now_ns(&self) -> u64 {
        self.now_ns
    }
}

impl Drop for Stopped<'_> {
    fn drop(&mut self) {
        let mut stops = self.clock.stops();
        if let Some(since) = stops.since.take() {
            stops.total += since.elapsed();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[tokio::test(start_paused = true)]
    async fn stops_are_left_out_and_sleepers_wait_for_them() {
        let clock = Clock::new();
        tokio::time::advance(Duration::from_millis(7)).await;
        let stopped = clock.stop();
        assert_eq!(stopped.now_ns(), 7 * MS);
        tokio::time::advance(Duration::from_millis(40)).await;
        assert_eq!(clock.now_ns(), 7 * MS, "it stands still for all");
        drop(stopped);
        assert_eq!(clock.now_ns(), 7 * MS);
        let began = Instant::now();
        let stop_meanwhile = async {
            tokio::time::sleep(Duration::from_millis(1)).await;
            let stopped = clock.stop();
            tokio::time::sleep(Duration::from_millis(30)).await;
            drop(stopped);
        };
        tokio::join!(clock.sleep_until(10 * MS), stop_meanwhile);
        assert_eq!(began.elapsed(), Duration::from_millis(33));
        assert_eq!(clock.now_ns(), 10 * MS);
    }
}
