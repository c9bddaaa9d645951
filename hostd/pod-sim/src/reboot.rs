//! Restarts of the simulated pod: what a restart clears, what survives it, and how long it takes.
//!
//! Timelines are continued rather than replaced: a target that watches its supply sees the rail go
//! off at the instant of the restart, whatever had been planned for later.

use tokio::time::{Duration, Instant};

/// How long a restarting pod accepts no connections.
pub(crate) const BOOT: Duration = Duration::from_millis(1_500);

/// The firmware's names for a restart that it requested itself, and for one by power-on.
const BY_SOFTWARE: &str = "software";
const BY_POWER: &str = "power-on";

/// The current run of the firmware.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Boot {
    /// In the machine's time: whoever looks for restarts compares it with a clock of their own.
    since: Instant,
    /// From this instant on it serves connections.
    ready_ns: u64,
    cause: &'static str,
}

impl Boot {
    /// A pod that was on before the simulation began.
    pub(crate) fn first() -> Self {
        Self {
            since: Instant::now(),
            ready_ns: 0,
            cause: BY_POWER,
        }
    }

    /// A restart that the firmware requested itself.
    pub(crate) fn again(now_ns: u64) -> Self {
        Self {
            since: Instant::now(),
            ready_ns: now_ns + u64::try_from(BOOT.as_nanos()).expect("a small constant"),
            cause: BY_SOFTWARE,
        }
    }

    pub(crate) fn uptime_ms(self) -> u64 {
        u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Why it started, in the words of `status`.
    pub(crate) fn cause(self) -> &'static str {
        self.cause
    }

    pub(crate) fn is_serving(self, now_ns: u64) -> bool {
        self.ready_ns <= now_ns
    }
}

#[cfg(test)]
mod tests;
