//! Lets at most so many calls into a handler at once, and bounds how many wait and for how long.
//!
//! Running out of instances is an error in the engine, not a wait, so this stands in front of it.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};

use crate::options::HandlerOptions;

#[derive(Debug)]
pub(crate) struct Admission {
    places: Semaphore,
    places_max: u32,
    waiting: AtomicU32,
    waiting_max: u32,
    wait_max: Duration,
}

impl Admission {
    pub(crate) fn new(options: &HandlerOptions) -> Self {
        Self {
            places: Semaphore::new(options.in_flight_max as usize),
            places_max: options.in_flight_max,
            waiting: AtomicU32::new(0),
            waiting_max: options.queued_max,
            wait_max: Duration::from_millis(options.queue_wait_ms_max),
        }
    }

    /// A place, kept until the permit is dropped. None: overloaded.
    pub(crate) async fn enter(&self) -> Option<SemaphorePermit<'_>> {
        if let Ok(place) = self.places.try_acquire() {
            return Some(place);
        }
        let _queued = self.queue()?;
        tokio::time::timeout(self.wait_max, self.places.acquire())
            .await
            .ok()?
            .ok()
    }

    pub(crate) fn in_flight(&self) -> u64 {
        let free = self.places.available_permits() as u64;
        u64::from(self.places_max).saturating_sub(free)
    }

    fn queue(&self) -> Option<Queued<'_>> {
        let before = self.waiting.fetch_add(1, Ordering::Relaxed);
        let queued = Queued(&self.waiting);
        (before < self.waiting_max).then_some(queued)
    }
}

/// Leaves the queue when dropped, also when the waiting caller goes away.
struct Queued<'a>(&'a AtomicU32);

impl Drop for Queued<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admission(in_flight_max: u32, queued_max: u32) -> Admission {
        Admission::new(&HandlerOptions {
            in_flight_max,
            queued_max,
            queue_wait_ms_max: 1_000,
            ..HandlerOptions::default()
        })
    }

    #[tokio::test(start_paused = true)]
    async fn waits_for_its_time_and_then_refuses() {
        let admission = admission(1, 1);
        let place = admission.enter().await.unwrap();
        assert_eq!(admission.in_flight(), 1);
        let from = tokio::time::Instant::now();
        assert!(admission.enter().await.is_none());
        assert_eq!(from.elapsed(), Duration::from_millis(1_000));
        drop(place);
        assert!(admission.enter().await.is_some());
        assert_eq!(admission.waiting.load(Ordering::Relaxed), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_full_queue_refuses_at_once() {
        let admission = admission(1, 0);
        let _place = admission.enter().await.unwrap();
        let from = tokio::time::Instant::now();
        assert!(admission.enter().await.is_none());
        assert_eq!(from.elapsed(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn the_next_in_line_gets_the_place() {
        let admission = admission(1, 1);
        let place = admission.enter().await.unwrap();
        let (next, ()) = tokio::join!(admission.enter(), async { drop(place) });
        assert!(next.is_some());
    }
}
