//! Pauses between attempts to connect: doubled each time, and shortened at random so that many pods
//! lost together are not all retried at the same instant.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// A pause is at least one part in this many of its full length.
const SHORTEST_PART: u32 = 2;

/// The pauses of one pod.
#[derive(Debug)]
pub(super) struct Backoff {
    min: Duration,
    max: Duration,
    next: Duration,
    random: u64,
}

impl Backoff {
    pub(super) fn new(min: Duration, max: Duration) -> Self {
        // Hash keys differ between pods and runs, which is all that is needed here.
        let seed = RandomState::new().hash_one(min);
        Self::seeded(min, max, seed)
    }

    fn seeded(min: Duration, max: Duration, seed: u64) -> Self {
        Self {
            min,
            max,
            next: min,
            random: seed | 1,
        }
    }

    /// The next pause.
    pub(super) fn pause(&mut self) -> Duration {
        let full = self.next.min(self.max);
        self.next = (full * 2).min(self.max);
        // Xorshift.
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        let shortest = full / SHORTEST_PART;
        let spread = u64::try_from((full - shortest).as_nanos()).unwrap_or(u64::MAX);
        shortest + Duration::from_nanos(self.random % spread.saturating_add(1).max(1))
    }

    /// Starts over with the shortest pause.
    pub(super) fn reset(&mut self) {
        self.next = self.min;
    }
}

#[cfg(test)]
mod tests {
    //! Pauses grow to their bound and stay within their spread.

    use super::{Backoff, Duration};

    #[test]
    fn pauses_double_up_to_the_bound_and_are_never_longer() {
        for seed in 0..200 {
            let (min, max) = (Duration::from_millis(100), Duration::from_secs(5));
            let mut backoff = Backoff::seeded(min, max, seed);
            let mut full = min;
            for _ in 0..12 {
                let pause = backoff.pause();
                assert!(full / 2 <= pause && pause <= full, "{pause:?} of {full:?}");
                full = (full * 2).min(max);
            }
            backoff.reset();
            assert!(backoff.pause() <= min);
        }
    }

    #[test]
    fn pods_that_went_away_together_come_back_apart() {
        let second = Duration::from_secs(1);
        let pauses: Vec<_> = (1..50)
            .map(|seed| Backoff::seeded(second, second, seed * 7919).pause())
            .collect();
        let distinct: std::collections::BTreeSet<_> = pauses.iter().collect();
        assert!(distinct.len() > 40, "{}", distinct.len());
    }
}
