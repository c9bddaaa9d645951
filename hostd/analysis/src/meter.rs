//! What is counted for those who watch the server. The words are few and none of them is anybody's name.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use store::StoreError;
use store::emi::runs::{Kind, Status};
use store::emi::{self, Usage};
use tracing::warn;

use crate::service::Analysis;

/// What is stored is counted again after this time, when somebody asks.
const COUNT_EVERY_MS: u64 = 60_000;

/// Counts since the start of the server.
#[derive(Debug, Default)]
pub(crate) struct Meter(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    tasks: u64,
    waits: u64,
    wait_ms: u64,
    ended: BTreeMap<(&'static str, &'static str), u64>,
    refused: BTreeMap<&'static str, u64>,
    /// When what is stored was counted, by the steady clock; none = never.
    counted_ms: Option<u64>,
    projects: u64,
    boards: u64,
    bytes: u64,
}

/// What there is, and what there was since the start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Figures {
    /// Projects of all organisations.
    pub projects: u64,
    /// Boards of all organisations.
    pub boards: u64,
    /// Runs that wait.
    pub waiting: u64,
    /// Runs that have a place.
    pub running: u64,
    /// Bytes of uploads, boards and results; what an organisation has twice counts once.
    pub bytes: u64,
    /// Runs that were begun.
    pub waits: u64,
    /// How long they waited together, in milliseconds.
    pub wait_ms: u64,
    /// Runs that have ended, by kind and status.
    pub ended: BTreeMap<(&'static str, &'static str), u64>,
    /// Requests that were refused, by why.
    pub refused: BTreeMap<&'static str, u64>,
}

impl Meter {
    /// A number for the next task.
    pub(crate) fn next_task(&self) -> u64 {
        let mut counts = self.lock();
        counts.tasks += 1;
        counts.tasks
    }

    pub(crate) fn waited(&self, ms: u64) {
        let mut counts = self.lock();
        counts.waits += 1;
        counts.wait_ms = counts.wait_ms.saturating_add(ms);
    }

    pub(crate) fn ended(&self, kind: Kind, status: Status) {
        *self
            .lock()
            .ended
            .entry((kind.name(), status.name()))
            .or_default() += 1;
    }

    pub(crate) fn refused(&self, reason: &'static str) {
        *self.lock().refused.entry(reason).or_default() += 1;
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        // Each change is an addition, so a panic elsewhere leaves the counts whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Analysis {
    /// Figures for those who watch the server. What is stored is as it was at most a minute before somebody last asked.
    #[must_use]
    pub fn figures(self: &Arc<Self>) -> Figures {
        let now_ms = self.clock.steady_ms();
        let running = u64::from(self.places.taken());
        let waiting = self.attended.waiting();
        let mut counts = self.meter.lock();
        let is_due = |at_ms: u64| now_ms.saturating_sub(at_ms) >= COUNT_EVERY_MS;
        if counts.counted_ms.is_none_or(is_due) {
            counts.counted_ms = Some(now_ms);
            let this = self.clone();
            tokio::spawn(async move {
                if let Err(error) = this.count().await {
                    warn!(%error, "failed to count boards");
                }
            });
        }
        Figures {
            projects: counts.projects,
            boards: counts.boards,
            bytes: counts.bytes,
            waiting,
            running,
            waits: counts.waits,
            wait_ms: counts.wait_ms,
            ended: counts.ended.clone(),
            refused: counts.refused.clone(),
        }
    }

    /// Counts what is stored.
    pub(crate) async fn count(&self) -> Result<(), StoreError> {
        let usage = self.store.read(emi::usage).await?;
        let mut counts = self.meter.lock();
        counts.projects = usage.values().map(|usage| usage.projects).sum();
        counts.boards = usage.values().map(|usage| usage.boards).sum();
        counts.bytes = usage.values().map(Usage::bytes).sum();
        Ok(())
    }
}
