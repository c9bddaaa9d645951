//! How long a command goes on trying, and how it is interrupted.

use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::signals;

/// The first pause, doubled each time up to the longest.
const PAUSE_FIRST: Duration = Duration::from_secs(1);
const PAUSE_MAX: Duration = Duration::from_secs(30);

/// Longest pause that a server may ask for.
const ASKED_PAUSE_MAX: Duration = Duration::from_secs(60);

/// How long to go on trying, and how often somebody pressed Ctrl-C or sent SIGTERM.
#[derive(Clone, Debug)]
pub(super) struct Patience {
    /// All pauses between the tries of one thing together.
    pauses_max: Duration,
    stops: Arc<(Mutex<u32>, Condvar)>,
    /// Those of them that were obeyed, which interrupt nothing any more.
    obeyed: u32,
}

impl Patience {
    pub(super) fn new(pauses_max: Duration) -> Self {
        Self {
            pauses_max,
            stops: Arc::default(),
            obeyed: 0,
        }
    }

    /// Counts signals from now on, in place of being ended by them.
    pub(super) fn listen(&self) -> anyhow::Result<()> {
        let heard = self.clone();
        signals::listen(move || heard.add())
    }

    /// The tries of one thing.
    pub(super) fn tries(&self) -> Tries {
        Tries {
            pause: PAUSE_FIRST,
            left: self.pauses_max,
        }
    }

    fn add(&self) {
        *self.lock() += 1;
        self.stops.1.notify_all();
    }

    pub(super) fn stops(&self) -> u32 {
        self.lock().saturating_sub(self.obeyed)
    }

    /// For what is done because somebody pressed Ctrl-C: only once more interrupts it.
    pub(super) fn obeying(&self) -> Self {
        let obeyed = *self.lock();
        Self {
            obeyed,
            ..self.clone()
        }
    }

    /// Waits, but not on after the count has changed from `seen`. True if it has.
    pub(super) fn wait(&self, seen: u32, time: Duration) -> bool {
        let until = Instant::now() + time;
        let mut count = self.lock();
        while count.saturating_sub(self.obeyed) == seen {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            let woken = self.stops.1.wait_timeout(count, left);
            count = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    fn lock(&self) -> MutexGuard<'_, u32> {
        // A number is never half changed.
        self.stops.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The tries of one thing.
#[derive(Debug)]
pub(super) struct Tries {
    pause: Duration,
    left: Duration,
}

impl Tries {
    /// The pause after one more that failed, at least as long as the server asked for; none if it was the last.
    pub(super) fn next(&mut self, asked: Option<Duration>) -> Option<Duration> {
        let pause = self
            .pause
            .max(asked.unwrap_or_default().min(ASKED_PAUSE_MAX));
        self.pause = (self.pause * 2).min(PAUSE_MAX);
        self.left = self.left.checked_sub(pause)?;
        Some(pause)
    }
}

/// Tells a person something that is no result.
pub(super) fn tell(text: &str) {
    // Nobody is left to tell whom standard error does not reach.
    let _ = writeln!(io::stderr(), "hostd: {text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn tries_come_to_an_end() {
        let mut tries = Patience::new(seconds(100)).tries();
        let pauses: Vec<u64> = std::iter::from_fn(|| tries.next(None))
            .map(|pause| pause.as_secs())
            .collect();
        assert_eq!(pauses, [1, 2, 4, 8, 16, 30, 30]);
        assert_eq!(Patience::new(Duration::ZERO).tries().next(None), None);
    }

    #[test]
    fn what_was_obeyed_interrupts_nothing_more() {
        let patience = Patience::new(Duration::ZERO);
        patience.add();
        let after = patience.obeying();
        assert_eq!((patience.stops(), after.stops()), (1, 0));
        assert!(!after.wait(0, Duration::ZERO));
        patience.add();
        assert_eq!((patience.stops(), after.stops()), (2, 1));
        assert!(after.wait(0, seconds(100)));
    }

    #[test]
    fn a_server_may_ask_for_patience_but_not_for_ever() {
        let mut tries = Patience::new(seconds(79)).tries();
        assert_eq!(tries.next(Some(seconds(10))), Some(seconds(10)));
        assert_eq!(tries.next(Some(seconds(0))), Some(seconds(2)));
        assert_eq!(tries.next(Some(seconds(86_400))), Some(seconds(60)));
        assert_eq!(tries.next(None), None);
    }

    #[test]
    fn a_stop_ends_a_pause_once() {
        let patience = Patience::new(Duration::ZERO);
        assert!(!patience.wait(0, Duration::from_millis(1)));
        patience.add();
        assert!(patience.wait(0, seconds(60)));
        assert!(!patience.wait(1, Duration::from_millis(1)));
    }
}
