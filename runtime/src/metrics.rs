//! Counts what one guest does. Bumping is a relaxed atomic; only snapshots read.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::failure::CallError;

/// Upper bounds of the call-time histogram in microseconds; one more bucket follows for the rest.
pub const BUCKETS_US: [u64; 12] = [
    10, 25, 50, 100, 250, 500, 1_000, 5_000, 25_000, 100_000, 1_000_000, 10_000_000,
];

const BUCKETS: usize = BUCKETS_US.len() + 1;

/// Counters of one guest as they stood at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Metrics {
    /// Calls that entered the guest and ended, well or badly. Cancelled ones are not among them.
    pub calls: u64,
    /// Time of those calls, microseconds.
    pub call_us: u64,
    /// Calls by their time: at most `BUCKETS_US[i]` (not cumulative), the last for all longer ones.
    pub buckets: [u64; BUCKETS],
    /// Calls that trapped: panics, memory and stack included, deadlines not.
    pub traps: u64,
    /// Calls ended by the deadline or by the limit on compute time.
    pub deadlines: u64,
    /// Traps for asking for too much memory.
    pub memory_limits: u64,
    /// Traps for recursing too deeply.
    pub stack_overflows: u64,
    /// Responses that were too large or not HTTP.
    pub bad_responses: u64,
    /// Calls whose caller went away.
    pub cancelled: u64,
    /// Calls refused because all places were taken.
    pub overloads: u64,
    /// Calls inside the guest now.
    pub in_flight: u64,
    /// Instances that wait for a call.
    pub instances_idle: u64,
    /// Instances that exist.
    pub instances_live: u64,
    /// Instances made so far.
    pub instances_created: u64,
    /// Instances thrown away so far.
    pub instances_retired: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Counters {
    calls: AtomicU64,
    call_us: AtomicU64,
    buckets: [AtomicU64; BUCKETS],
    traps: AtomicU64,
    deadlines: AtomicU64,
    memory_limits: AtomicU64,
    stack_overflows: AtomicU64,
    bad_responses: AtomicU64,
    cancelled: AtomicU64,
    overloads: AtomicU64,
    created: AtomicU64,
    retired: AtomicU64,
}

impl Counters {
    /// A call ended after `took_us`.
    pub(crate) fn called(&self, took_us: u64) {
        bump(&self.calls);
        self.call_us.fetch_add(took_us, Ordering::Relaxed);
        bump(&self.buckets[BUCKETS_US.partition_point(|bound| *bound < took_us)]);
    }

    /// ... and it failed.
    pub(crate) fn failed(&self, error: &CallError) {
        match error {
            CallError::Overloaded { .. } => bump(&self.overloads),
            CallError::Deadline { .. } | CallError::Compute { .. } => bump(&self.deadlines),
            CallError::ResponseTooLarge { .. } | CallError::BadResponse(_) => {
                bump(&self.bad_responses);
            }
            CallError::Instantiate { .. } | CallError::Ended => {}
            CallError::Memory { .. } => {
                bump(&self.memory_limits);
                bump(&self.traps);
            }
            CallError::StackOverflow => {
                bump(&self.stack_overflows);
                bump(&self.traps);
            }
            CallError::Trap { .. } | CallError::Fault { .. } | CallError::Transfer { .. } => {
                bump(&self.traps);
            }
        }
    }

    pub(crate) fn cancelled(&self) {
        bump(&self.cancelled);
    }

    pub(crate) fn created(&self) {
        bump(&self.created);
    }

    pub(crate) fn retired(&self) {
        bump(&self.retired);
    }

    /// The caller knows `in_flight` and `instances_idle`.
    pub(crate) fn snapshot(&self, in_flight: u64, instances_idle: u64) -> Metrics {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        // Retired first: an instance that comes and goes in between must not make it negative.
        let retired = read(&self.retired);
        let created = read(&self.created);
        Metrics {
            calls: read(&self.calls),
            call_us: read(&self.call_us),
            buckets: std::array::from_fn(|i| read(&self.buckets[i])),
            traps: read(&self.traps),
            deadlines: read(&self.deadlines),
            memory_limits: read(&self.memory_limits),
            stack_overflows: read(&self.stack_overflows),
            bad_responses: read(&self.bad_responses),
            cancelled: read(&self.cancelled),
            overloads: read(&self.overloads),
            in_flight,
            instances_idle,
            instances_live: created.saturating_sub(retired),
            instances_created: created,
            instances_retired: retired,
        }
    }
}

fn bump(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_fall_into_the_first_bucket_that_holds_them() {
        let counters = Counters::default();
        for took_us in [0, 10, 11, 1_000, u64::MAX >> 1] {
            counters.called(took_us);
        }
        let metrics = counters.snapshot(0, 0);
        assert_eq!(metrics.calls, 5);
        assert_eq!(metrics.buckets[0], 2);
        assert_eq!(metrics.buckets[1], 1);
        assert_eq!(metrics.buckets[6], 1);
        assert_eq!(metrics.buckets[BUCKETS - 1], 1);
    }
}
