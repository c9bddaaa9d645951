//! How many bytes the jobs of each organisation keep: sources, logs, artifacts. Read from the store at the start and
//! counted from then on, also while attempts write.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use store::jobs::Job;

/// What is kept, by organisation.
#[derive(Debug)]
pub(crate) struct Ledger {
    gib_max: u32,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    orgs: HashMap<String, u64>,
    /// Jobs that are not over.
    open: HashMap<String, Open>,
}

/// A job that may still grow.
#[derive(Debug)]
struct Open {
    org: String,
    /// What its record tells.
    stored: u64,
    /// What attempts have written that its record does not tell yet.
    growing: BTreeMap<u32, u64>,
}

/// Bytes that would have to go first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Over(pub(crate) u64);

impl Open {
    fn bytes(&self) -> u64 {
        let growing = self.growing.values();
        growing.fold(self.stored, |sum, bytes| sum.saturating_add(*bytes))
    }
}

impl State {
    fn change(&mut self, org: &str, from: u64, to: u64) {
        let used = self.orgs.entry(org.to_owned()).or_default();
        *used = used.saturating_sub(from).saturating_add(to);
        if *used == 0 {
            self.orgs.remove(org);
        }
    }

    fn used(&self, org: &str) -> u64 {
        self.orgs.get(org).copied().unwrap_or_default()
    }
}

impl Ledger {
    pub(crate) fn new(gib_max: u32) -> Self {
        Self {
            gib_max,
            state: Mutex::default(),
        }
    }

    fn max(&self) -> u64 {
        u64::from(self.gib_max) << 30
    }

    /// Why nothing more is taken.
    pub(crate) fn sentence(&self) -> String {
        format!(
            "the jobs of the organisation keep as many GiB as they may (jobs.org_gib_max): {} at most; wait until older ones are forgotten, or ask an administrator for more room",
            self.gib_max
        )
    }

    /// A job that is over keeps so many.
    pub(crate) fn add(&self, org: &str, bytes: u64) {
        self.lock().change(org, 0, bytes);
    }

    /// A job that is over keeps them no more.
    pub(crate) fn forget(&self, org: &str, bytes: u64) {
        self.lock().change(org, bytes, 0);
    }

    /// Takes room for a job that is about to be queued.
    pub(crate) fn claim(&self, job: &Job) -> Result<(), Over> {
        // It counts as unpacked once it is queued.
        let unpacked = job.archive.as_ref().map_or(0, |archive| {
            if job.queue.is_none() {
                archive.unpacked_bytes
            } else {
                0
            }
        });
        let bytes = job.bytes().saturating_add(unpacked);
        let mut state = self.lock();
        let wanted = state.used(&job.org).saturating_add(bytes);
        if wanted > self.max() {
            return Err(Over(wanted - self.max()));
        }
        state.change(&job.org, 0, bytes);
        let open = Open {
            org: job.org.clone(),
            stored: bytes,
            growing: BTreeMap::new(),
        };
        state.open.insert(job.id.clone(), open);
        Ok(())
    }

    /// A job that was claimed for was not queued.
    pub(crate) fn give_back(&self, job: &str) {
        let mut state = self.lock();
        if let Some(open) = state.open.remove(job) {
            state.change(&open.org, open.bytes(), 0);
        }
    }

    /// The record of a job is like this from now on.
    pub(crate) fn record(&self, job: &Job) {
        let mut state = self.lock();
        let mut open = state.open.remove(&job.id).unwrap_or_else(|| Open {
            org: job.org.clone(),
            stored: 0,
            growing: BTreeMap::new(),
        });
        let before = open.bytes();
        open.stored = job.bytes();
        let ended = |number: u32| {
            let mut attempts = job.attempts.iter();
            attempts.all(|attempt| attempt.number != number || attempt.ended_ms.is_some())
        };
        open.growing.retain(|number, _| !ended(*number));
        state.change(&job.org, before, open.bytes());
        if job.queue.is_some() {
            state.open.insert(job.id.clone(), open);
        }
    }

    /// An attempt has written so many bytes so far. Whether there is room for them.
    pub(crate) fn grow(&self, job: &str, attempt: u32, bytes: u64) -> bool {
        let mut state = self.lock();
        let Some(mut open) = state.open.remove(job) else {
            return true;
        };
        let before = open.bytes();
        open.growing.insert(attempt, bytes);
        state.change(&open.org, before, open.bytes());
        let has_room = state.used(&open.org) <= self.max();
        state.open.insert(job.to_owned(), open);
        has_room
    }

    /// Of all organisations.
    pub(crate) fn total(&self) -> u64 {
        let state = self.lock();
        state
            .orgs
            .values()
            .fold(0, |sum, bytes| sum.saturating_add(*bytes))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic between two assignments would need one of the allocator.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use store::jobs::{Archive, Attempt};

    use super::*;

    const GIB: u64 = 1 << 30;

    fn job(org: &str, id: &str, packed: u64, unpacked: u64) -> Job {
        Job {
            id: id.into(),
            org: org.into(),
            user: "u".into(),
            name: None,
            r#ref: None,
            commit: None,
            retry_of: None,
            archive: Some(Archive {
                sha256: "aa".into(),
                size_bytes: packed,
                entries: 1,
                unpacked_bytes: unpacked,
                definition: "ci.yml".into(),
            }),
            axes: serde_json::Value::Null,
            other_bytes: 0,
            memory_bytes: 0,
            queue: None,
            end: None,
            runs: Vec::new(),
            attempts: Vec::new(),
            created_ms: 1,
            started_ms: None,
            finished_ms: None,
        }
    }

    fn attempt(number: u32, log_bytes: u64, ended_ms: Option<u64>) -> Attempt {
        Attempt {
            number,
            run: 0,
            epoch: 1,
            device: None,
            lease_id: None,
            assigned_ms: 1,
            started_ms: None,
            ended_ms,
            end: None,
            log_bytes,
            files: Vec::new(),
            measured: 0,
        }
    }

    #[test]
    fn a_job_counts_from_its_claim_until_it_is_forgotten() {
        let ledger = Ledger::new(1);
        let mut job = job("o", "1", 100, 1000);
        ledger.claim(&job).unwrap();
        assert_eq!(ledger.total(), 1100);
        job.queue = Some(serde_json::json!({}));
        job.attempts.push(attempt(1, 0, None));
        ledger.record(&job);
        assert_eq!(ledger.total(), 1100);
        assert!(ledger.grow("1", 1, 50) && ledger.grow("1", 1, 70));
        ledger.record(&job);
        assert_eq!(ledger.total(), 1170);
        // Told by the record from now on.
        job.attempts[0] = attempt(1, 75, Some(9));
        ledger.record(&job);
        assert_eq!(ledger.total(), 1175);
        job.queue = None;
        ledger.record(&job);
        assert_eq!((ledger.total(), job.bytes()), (175, 175));
        // Late news of an attempt that was given up is of no job.
        assert!(ledger.grow("1", 1, GIB * 2));
        ledger.forget("o", 175);
        assert_eq!(ledger.total(), 0);
        assert!(ledger.lock().orgs.is_empty() && ledger.lock().open.is_empty());
    }

    #[test]
    fn an_organisation_has_so_much_and_another_its_own() {
        let ledger = Ledger::new(1);
        ledger.add("o", GIB - 10);
        assert_eq!(ledger.claim(&job("o", "1", 6, 5)), Err(Over(1)));
        ledger.claim(&job("o", "2", 6, 4)).unwrap();
        ledger.claim(&job("p", "3", GIB, 0)).unwrap();
        assert_eq!(ledger.claim(&job("p", "4", 1, 0)), Err(Over(1)));
        assert!(!ledger.grow("2", 1, 1));
        assert!(ledger.grow("2", 1, 0));
        ledger.give_back("2");
        ledger.claim(&job("o", "5", 6, 4)).unwrap();
        assert!(ledger.sentence().contains("(jobs.org_gib_max): 1 at most"));
    }
}
