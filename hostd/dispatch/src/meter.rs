//! What is counted of jobs for those who watch the server. The words are few and none of them is anybody's name.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use scheduler::{Ending, State};
use store::jobs::Job;

use crate::ending;
use crate::error::JobError;
use crate::record::{self, Outcome, outcome_of_run};

/// Upper bounds of the histogram of waits, in seconds.
pub const WAIT_BUCKETS_S: [u64; 10] = [1, 5, 15, 60, 300, 900, 1800, 3600, 10_800, 43_200];

/// Counts since the start of the server.
#[derive(Debug, Default)]
pub(crate) struct Meter(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    waits: Waits,
    attempts: BTreeMap<&'static str, u64>,
    refusals: BTreeMap<&'static str, u64>,
    log_bytes: u64,
}

/// How long jobs waited for their first place.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Waits {
    /// Those within each of [`WAIT_BUCKETS_S`] and beyond the one before.
    pub within: [u64; WAIT_BUCKETS_S.len()],
    /// All of them.
    pub count: u64,
    /// Together, in milliseconds.
    pub sum_ms: u64,
}

/// What there is, and what there was since the start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Figures {
    /// Unfinished jobs by state.
    pub states: BTreeMap<&'static str, u64>,
    /// Runs of unfinished jobs that have no place yet.
    pub runs_waiting: u64,
    /// Attempts at builds that run, each in a jail of its own.
    pub running_builds: u64,
    /// Attempts that have a device.
    pub running_benches: u64,
    /// How long jobs waited for their first place.
    pub waits: Waits,
    /// Attempts that have ended, by how.
    pub attempts: BTreeMap<&'static str, u64>,
    /// Jobs that were not taken, by why.
    pub refusals: BTreeMap<&'static str, u64>,
    /// Bytes of output of attempts that have ended.
    pub log_bytes: u64,
    /// Devices that no job gets.
    pub quarantined: u64,
    /// Jobs whose records could not be read at the start.
    pub unreadable: u64,
    /// Bytes that jobs keep on disk.
    pub stored_bytes: u64,
    /// Bytes of memory that jobs take: see `jobs.memory_mib`.
    pub memory_bytes: u64,
}

/// All states that an unfinished job can have, and their words.
const STATES: [(State, &str); 4] = [
    (State::Queued, "queued"),
    (State::Assigned, "assigned"),
    (State::Running, "running"),
    (State::Stopping, "stopping"),
];

impl Meter {
    /// A job got its first place after so long.
    pub(crate) fn waited(&self, ms: u64) {
        let mut counts = self.lock();
        let mut bounds = WAIT_BUCKETS_S.iter();
        if let Some(slot) = bounds.position(|bound| ms <= bound * 1000) {
            counts.waits.within[slot] += 1;
        }
        counts.waits.count += 1;
        counts.waits.sum_ms = counts.waits.sum_ms.saturating_add(ms);
    }

    /// An attempt has ended.
    pub(crate) fn ended(&self, ending: Ending, log_bytes: u64) {
        let mut counts = self.lock();
        *counts.attempts.entry(ending::code(ending)).or_default() += 1;
        counts.log_bytes = counts.log_bytes.saturating_add(log_bytes);
    }

    /// A job was not taken.
    pub(crate) fn refused(&self, error: &JobError) {
        *self.lock().refusals.entry(error.reason()).or_default() += 1;
    }

    /// With what is known elsewhere left at 0.
    pub(crate) fn figures<'j>(&self, unfinished: impl Iterator<Item = &'j Job>) -> Figures {
        let counts = self.lock();
        let mut figures = Figures {
            states: STATES.iter().map(|(_, word)| (*word, 0)).collect(),
            waits: counts.waits,
            attempts: counts.attempts.clone(),
            refusals: counts.refusals.clone(),
            log_bytes: counts.log_bytes,
            ..Figures::default()
        };
        drop(counts);
        for job in unfinished {
            let state = record::axes(job).state();
            if let Some((_, word)) = STATES.iter().find(|(known, _)| *known == state) {
                *figures.states.entry(word).or_default() += 1;
            }
            for (place, run) in job.runs.iter().enumerate() {
                match outcome_of_run(job, place) {
                    Outcome::Waiting => figures.runs_waiting += 1,
                    Outcome::Running if run.is_bench => figures.running_benches += 1,
                    Outcome::Running => figures.running_builds += 1,
                    _ => {}
                }
            }
        }
        figures
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        // Each change is an addition, so a panic elsewhere leaves the counts whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use scheduler::Infra;

    use super::*;

    #[test]
    fn what_happened_is_counted_by_words_that_are_known() {
        let meter = Meter::default();
        for ms in [0, 1000, 1001, u64::MAX] {
            meter.waited(ms);
        }
        meter.ended(Ending::Passed, 10);
        meter.ended(Ending::Infra(Infra::OrgQuota), 5);
        meter.refused(&JobError::Quota(String::new()));
        meter.refused(&JobError::Quota(String::new()));
        let figures = meter.figures(std::iter::empty());
        assert_eq!(figures.waits.within[..3], [2, 1, 0]);
        assert_eq!((figures.waits.count, figures.waits.sum_ms), (4, u64::MAX));
        let attempts = [("infra.org_quota", 1), ("passed", 1)];
        assert_eq!(figures.attempts, BTreeMap::from(attempts));
        assert_eq!(figures.refusals, BTreeMap::from([("quota", 2)]));
        assert_eq!(figures.log_bytes, 15);
        assert_eq!(figures.states["queued"], 0);
    }
}
