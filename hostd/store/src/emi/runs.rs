//! Table of runs: those that wait, that are under way and that have ended.

use std::collections::HashSet;
use std::ops::ControlFlow;

use serde_json::{Map, Value};

use super::boards::{self, Facts};
pub use super::run::{Artifact, Failure, Kind, Progress, Run, Status};
use super::{Counted, EmiError, Pairs, Range, Records, Source, Store, StoreError, Writing, admit};
use crate::records::pair;

pub(super) const TABLE: &str = "emi_runs";

/// `org/id` to run; ids sort by time.
const RUNS: Records<Run> = Records::new(TABLE);

/// How many runs there may be.
#[derive(Debug, Clone, Copy)]
pub struct Queue {
    /// All of one organisation, finished ones too.
    pub runs_max: u64,
    /// Those of one organisation that wait.
    pub waiting_per_org_max: u64,
    /// Those of all that wait.
    pub waiting_max: u64,
}

/// What became of a run.
#[derive(Debug, Clone)]
pub enum End {
    Done {
        summary: Map<String, Value>,
        artifacts: Vec<Artifact>,
        /// What was read of the board, if that was asked.
        facts: Option<Facts>,
    },
    Failed(Failure),
    TimedOut(Failure),
}

/// One run of an organisation.
///
/// # Errors
/// The storage failed.
pub fn by_id(from: &impl Source, org: &str, id: &str) -> Result<Option<Run>, StoreError> {
    RUNS.get(from, &pair(org, id))
}

/// Visit the runs of an organisation, newest first, from before `before` on, until `visit` breaks.
///
/// # Errors
/// The storage failed.
pub fn newest_first(
    from: &impl Source,
    org: &str,
    before: Option<&str>,
    mut visit: impl FnMut(Run) -> ControlFlow<()>,
) -> Result<(), StoreError> {
    let keys = Pairs::before(org, before);
    RUNS.each(from, keys.backwards(), |_, run| visit(run))
}

/// Visit all runs.
///
/// # Errors
/// The storage failed.
pub fn each(from: &impl Source, mut visit: impl FnMut(Run)) -> Result<(), StoreError> {
    RUNS.each(from, Range::ALL, |_, run| {
        visit(run);
        ControlFlow::Continue(())
    })
}

pub(super) fn blobs(from: &impl Source) -> Result<HashSet<String>, StoreError> {
    let mut found = HashSet::new();
    each(from, |run| {
        let digests = run
            .artifacts
            .into_iter()
            .map(|artifact| artifact.file.sha256);
        found.extend(digests);
    })?;
    Ok(found)
}

/// Forget those of an organisation that fit; the ids of those that were not finished.
pub(super) fn forget_where(
    w: &Writing<'_>,
    org: &str,
    mut fits: impl FnMut(&Run) -> bool,
) -> Result<Vec<String>, StoreError> {
    let (mut ids, mut unfinished) = (Vec::new(), Vec::new());
    newest_first(w, org, None, |run| {
        if fits(&run) {
            if !run.status.is_final() {
                unfinished.push(run.id.clone());
            }
            ids.push(run.id);
        }
        ControlFlow::Continue(())
    })?;
    for id in &ids {
        RUNS.remove(w, &pair(org, id))?;
    }
    Ok(unfinished)
}

/// Put a run into the queue, if there is room; it may be there already, finished.
pub(super) fn line_up(w: &Writing<'_>, run: &Run, queue: Queue) -> Result<(), EmiError> {
    let (mut of_org, mut waiting_of_org, mut waiting) = (0, 0, 0);
    each(w, |other| {
        let waits = u64::from(other.status.waits());
        waiting += waits;
        if other.org == run.org && other.id != run.id {
            of_org += 1;
            waiting_of_org += waits;
        }
    })?;
    let bounds = [
        (Counted::Runs, of_org, queue.runs_max),
        (
            Counted::WaitingOfOrg,
            waiting_of_org,
            queue.waiting_per_org_max,
        ),
        (Counted::Waiting, waiting, queue.waiting_max),
    ];
    for (what, count, max) in bounds {
        if count >= max {
            return Err(EmiError::TooMany { what, max });
        }
    }
    Ok(RUNS.put(w, &pair(&run.org, &run.id), run)?)
}

impl Store {
    /// Add a run of a board.
    ///
    /// # Errors
    /// Its board is not there, there is no room, or the storage failed.
    pub async fn emi_run_add(&self, run: Run, queue: Queue) -> Result<(), EmiError> {
        self.write(move |w| {
            let board = boards::by_id(w, &run.org, &run.board)?;
            board
                .filter(|board| board.project == run.project)
                .ok_or(EmiError::NotFound)?;
            line_up(w, &run, queue)
        })
        .await
    }

    /// Change a run; returns what `f` returns. None = there is no such run. An error from `f` changes nothing.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn emi_run_change<T, E>(
        &self,
        org: &str,
        id: &str,
        f: impl Fn(&mut Run) -> Result<T, E> + Send + 'static,
    ) -> Result<Option<Result<T, E>>, StoreError>
    where
        T: Send + 'static,
        E: Send + 'static,
    {
        let key = pair(org, id);
        self.write(move |w| {
            let Some(mut run) = RUNS.get(w, &key)? else {
                return Ok::<_, StoreError>(None);
            };
            let changed = f(&mut run);
            if changed.is_ok() {
                RUNS.put(w, &key, &run)?;
            }
            Ok(Some(changed))
        })
        .await
    }

    /// Put a finished run back into the queue, as `f` makes it. None = `f` says that it cannot be.
    ///
    /// # Errors
    /// There is no such run, there is no room, or the storage failed.
    pub async fn emi_run_again(
        &self,
        org: &str,
        id: &str,
        queue: Queue,
        f: impl Fn(Run) -> Option<Run> + Send + 'static,
    ) -> Result<Option<Run>, EmiError> {
        let key = pair(org, id);
        self.write(move |w| {
            let run = RUNS.get(w, &key)?.ok_or(EmiError::NotFound)?;
            let Some(run) = f(run) else { return Ok(None) };
            line_up(w, &run, queue)?;
            Ok(Some(run))
        })
        .await
    }

    /// End a run, as far as it came, with what it made and what it read of its board; the run as it is then. A run that was
    /// deleted, or has ended, stays so: none.
    ///
    /// # Errors
    /// The organisation would keep more than `bytes_max`, or the storage failed.
    pub async fn emi_run_end(
        &self,
        org: &str,
        id: &str,
        (end, progress): (End, Progress),
        at_ms: u64,
        bytes_max: u64,
    ) -> Result<Option<Run>, EmiError> {
        let key = pair(org, id);
        self.write(move |w| {
            let Some(mut run) = RUNS.get(w, &key)?.filter(|run| !run.status.is_final()) else {
                return Ok(None);
            };
            run.finished_ms = Some(at_ms);
            run.updated_ms = at_ms;
            run.progress.clone_from(&progress);
            match &end {
                End::Done {
                    summary,
                    artifacts,
                    facts,
                } => {
                    let files = artifacts.iter().map(|artifact| &artifact.file);
                    admit(w, &run.org, files, bytes_max)?;
                    run.status = Status::Done;
                    run.progress.pct = 100;
                    run.summary = Some(summary.clone());
                    run.artifacts.clone_from(artifacts);
                    if let Some(facts) = facts {
                        boards::learn(w, &run, facts)?;
                    }
                }
                End::Failed(failure) => {
                    run.status = Status::Failed;
                    run.error = Some(failure.clone());
                }
                End::TimedOut(failure) => {
                    run.status = Status::TimedOut;
                    run.error = Some(failure.clone());
                }
            }
            RUNS.put(w, &key, &run)?;
            Ok(Some(run))
        })
        .await
    }

    /// After a restart: runs that were under way wait once more, or, after `attempts_max`, have failed for `interrupted`;
    /// those that were to stop have failed for `stopped`. Those that wait, oldest first.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn emi_runs_recover(
        &self,
        attempts_max: u32,
        at_ms: u64,
        interrupted: Failure,
        stopped: Failure,
    ) -> Result<Vec<Run>, StoreError> {
        self.write(move |w| {
            let (mut caught, mut waiting) = (Vec::new(), Vec::new());
            each(w, |run| {
                if run.status.waits() {
                    waiting.push(run);
                } else if !run.status.is_final() {
                    caught.push(run);
                }
            })?;
            for mut run in caught {
                run.updated_ms = at_ms;
                let failure = match run.status {
                    Status::Stopping => Some(&stopped),
                    _ => (run.attempts >= attempts_max).then_some(&interrupted),
                };
                match failure {
                    Some(failure) => {
                        run.status = Status::Failed;
                        run.error = Some(failure.clone());
                        run.finished_ms = Some(at_ms);
                    }
                    None => run.status = Status::RetryPending,
                }
                RUNS.put(w, &pair(&run.org, &run.id), &run)?;
                if run.status.waits() {
                    waiting.push(run);
                }
            }
            waiting.sort_by(|a, b| a.id.cmp(&b.id));
            Ok(waiting)
        })
        .await
    }
}
