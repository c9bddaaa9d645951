//! What comparing two statuses of a pod shows: whether it restarted in between, and whether its
//! firmware changed.

use std::time::Duration;

use serde_json::{Map, Value};
use tokio::time::Instant;

/// How far a pod's clock may be off between two statuses, besides one part in [`CLOCK_PART`] of the
/// time. Includes the delay of the answer.
const CLOCK_SLACK: Duration = Duration::from_secs(5);

/// See [`CLOCK_SLACK`].
const CLOCK_PART: u32 = 100;

/// Pods count milliseconds in 32 bits: after 49.7 days the count wraps without a restart.
const UPTIME_WRAP_MS: u128 = 1 << 32;

/// What a pod reported about its current run, and when.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Look {
    uptime_ms: Option<u64>,
    pub(super) cause: Option<String>,
    pub(super) firmware: String,
    seen: Instant,
}

impl Look {
    /// Reads the data of `status`.
    pub(super) fn from_status(status: &Map<String, Value>, firmware: &str) -> Self {
        let cause = status.get("reset").or_else(|| status.get("reset_cause"));
        Self {
            uptime_ms: status.get("uptime_ms").and_then(Value::as_u64),
            cause: cause.and_then(Value::as_str).map(str::to_owned),
            firmware: firmware.to_owned(),
            seen: Instant::now(),
        }
    }

    /// Whether the pod has restarted between this status and the later one.
    pub(super) fn restarted_before(&self, later: &Self) -> bool {
        let other_cause =
            matches!((&self.cause, &later.cause), (Some(was), Some(now)) if was != now);
        other_cause || self.clock_went_back(later)
    }

    fn clock_went_back(&self, later: &Self) -> bool {
        let (Some(before_ms), Some(now_ms)) = (self.uptime_ms, later.uptime_ms) else {
            return false;
        };
        let passed = later.seen.saturating_duration_since(self.seen);
        let slack_ms = (CLOCK_SLACK + passed / CLOCK_PART).as_millis();
        let (before_ms, now_ms) = (u128::from(before_ms), u128::from(now_ms));
        let expected_ms = before_ms + passed.as_millis();
        if expected_ms + slack_ms >= UPTIME_WRAP_MS
            && (now_ms + UPTIME_WRAP_MS).abs_diff(expected_ms) <= slack_ms
        {
            return false;
        }
        now_ms < before_ms || now_ms + slack_ms < expected_ms
    }
}

#[cfg(test)]
mod tests {
    //! Restarts are distinguished from clocks that drift and counters that wrap.

    use serde_json::json;

    use super::{Duration, Instant, Look, UPTIME_WRAP_MS};

    fn run(uptime_ms: Option<u64>, cause: &str, after: Duration) -> Look {
        let status = json!({"uptime_ms": uptime_ms, "reset": cause});
        Look {
            seen: Instant::now() + after,
            ..Look::from_status(status.as_object().unwrap(), "3.9.4")
        }
    }

    #[test]
    fn a_restart_is_seen_by_the_uptime_or_the_cause() {
        let hour = Duration::from_secs(3_600);
        let wrap = u64::try_from(UPTIME_WRAP_MS).unwrap();
        for (before, now, passed, restarted) in [
            (Some(10_000), Some(12_000), Duration::from_secs(2), false),
            (Some(10_000), Some(9_999), Duration::from_secs(2), true),
            // It is up longer than before, but not as long as it would be without a restart.
            (Some(10_000), Some(3_000_000), hour, true),
            (Some(10_000), Some(3_600_000), hour, false),
            // A clock 0.5 % slow.
            (Some(0), Some(3_582_000), hour, false),
            (
                Some(wrap - 1_000),
                Some(1_000),
                Duration::from_secs(2),
                false,
            ),
            (Some(wrap - 1_000), Some(1_000), hour, true),
            (None, Some(5), hour, false),
            (Some(5), None, hour, false),
        ] {
            let first = run(before, "power-on", Duration::ZERO);
            let then = run(now, "power-on", passed);
            let found = first.restarted_before(&then);
            assert_eq!(found, restarted, "{before:?} {now:?} {passed:?}");
        }
        let first = run(Some(5), "power-on", Duration::ZERO);
        assert!(first.restarted_before(&run(Some(9), "watchdog", Duration::ZERO)));
    }
}
