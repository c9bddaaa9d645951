//! The one source of time. Everything that stamps, expires or waits by the wall clock takes a
//! [`Clock`], so that tests can stop and move time.

use std::sync::Arc;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use jiff::Timestamp;

/// Largest instant that has an RFC 3339 text: the end of the year 9999, in milliseconds.
const TEXT_MS_MAX: u64 = 253_402_207_200_000 - 1;

/// Characters of a day.
const DAY_CHARS: usize = "2026-01-31".len();

/// Origin of the system clock's steady time.
static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Wall-clock time, of the system or of a test. Cloning shares it.
#[derive(Debug, Clone)]
pub struct Clock(Source);

#[derive(Debug, Clone)]
enum Source {
    System,
    Manual(Arc<ManualTime>),
}

#[derive(Debug)]
struct ManualTime {
    wall_ms: AtomicU64,
    steady_ms: AtomicU64,
}

/// The hand that moves a manual [`Clock`].
#[derive(Debug, Clone)]
pub struct Hand(Arc<ManualTime>);

impl Clock {
    /// The system's clock.
    #[must_use]
    pub fn system() -> Self {
        Self(Source::System)
    }

    /// A clock that stands at `start_ms` until its hand is moved.
    #[must_use]
    pub fn manual(start_ms: u64) -> (Self, Hand) {
        let now = Arc::new(ManualTime {
            wall_ms: AtomicU64::new(start_ms),
            steady_ms: AtomicU64::new(0),
        });
        (Self(Source::Manual(now.clone())), Hand(now))
    }

    /// Milliseconds since 1970-01-01T00:00:00Z; 0 if the system's clock is set before that.
    #[must_use]
    pub fn now_ms(&self) -> u64 {
        match &self.0 {
            Source::System => SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0, |d| u64::try_from(d.as_millis()).unwrap_or(u64::MAX)),
            Source::Manual(now) => now.wall_ms.load(Ordering::SeqCst),
        }
    }

    /// Milliseconds since some instant of this process. Never steps when the wall clock is set, so
    /// use it to measure durations.
    #[must_use]
    pub fn steady_ms(&self) -> u64 {
        match &self.0 {
            Source::System => u64::try_from(START.elapsed().as_millis()).unwrap_or(u64::MAX),
            Source::Manual(now) => now.steady_ms.load(Ordering::SeqCst),
        }
    }

    /// Whole seconds since 1970-01-01T00:00:00Z.
    #[must_use]
    pub fn now_s(&self) -> u64 {
        self.now_ms() / 1000
    }

    /// The current time as [`text`].
    #[must_use]
    pub fn now_text(&self) -> String {
        text(self.now_ms())
    }
}

impl Hand {
    /// Let time pass.
    pub fn advance_ms(&self, by_ms: u64) {
        self.0.wall_ms.fetch_add(by_ms, Ordering::SeqCst);
        self.0.steady_ms.fetch_add(by_ms, Ordering::SeqCst);
    }

    /// Set the wall clock to any time, even backwards, while no steady time passes.
    pub fn set_ms(&self, to_ms: u64) {
        self.0.wall_ms.store(to_ms, Ordering::SeqCst);
    }
}

/// RFC 3339 text of an instant, UTC, whole seconds: `2026-11-21T09:54:16Z`. Instants after the year
/// 9999 read as its last second.
#[must_use]
pub fn text(at_ms: u64) -> String {
    let seconds = i64::try_from(at_ms.min(TEXT_MS_MAX) / 1000).expect("bounded just above");
    Timestamp::from_second(seconds)
        .expect("bounded to jiff's range just above")
        .to_string()
}

/// Whether an instant is not before `since`: a second in UTC as [`text`] writes it, or a day (`2026-01-31`), which means its
/// first second.
#[must_use]
pub fn is_since(at_ms: u64, since: &str) -> bool {
    *since <= *text(at_ms)
}

/// The first instant that [`is_since`], in milliseconds; none if that is no instant, or one before 1970.
#[must_use]
pub fn since_ms(since: &str) -> Option<u64> {
    let second = match since.len() {
        DAY_CHARS => format!("{since}T00:00:00Z").parse::<Timestamp>(),
        _ => since.parse::<Timestamp>(),
    };
    u64::try_from(second.ok()?.as_millisecond()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_a_second_or_the_first_one_of_a_day() {
        let at_ms = 1_795_254_856_999;
        for (since, is) in [
            ("2026-11-21", true),
            ("2026-11-21T09:54:16Z", true),
            ("2026-11-21T09:54:17Z", false),
            ("2026-11-22", false),
        ] {
            assert_eq!(is_since(at_ms, since), is, "{since}");
            let first_ms = since_ms(since).unwrap();
            assert_eq!(first_ms <= at_ms, is, "{since}");
            assert!(is_since(first_ms, since), "{since}");
            assert!(!is_since(first_ms - 1, since), "{since}");
        }
        for since in ["", "today", "2026-02-31", "1969-12-31"] {
            assert_eq!(since_ms(since), None, "{since}");
        }
    }

    #[test]
    fn text_is_whole_seconds_utc() {
        assert_eq!(text(0), "1970-01-01T00:00:00Z");
        assert_eq!(text(1_795_254_856_999), "2026-11-21T09:54:16Z");
        assert!(text(u64::MAX).starts_with("9999-12-30T"));
    }

    #[test]
    fn a_manual_clock_moves_only_by_hand() {
        let (clock, hand) = Clock::manual(5_000);
        let same = clock.clone();
        assert_eq!(clock.now_ms(), 5_000);
        hand.advance_ms(1_500);
        assert_eq!(same.now_ms(), 6_500);
        assert_eq!(same.now_s(), 6);
        hand.set_ms(1_000);
        assert_eq!(clock.now_text(), "1970-01-01T00:00:01Z");
        assert_eq!(
            clock.steady_ms(),
            1_500,
            "setting the wall clock takes no time"
        );
    }
}
