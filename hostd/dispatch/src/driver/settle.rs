//! Decisions on their way: into the records, into the store, and only then into the world.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use base::news::Kind;
use jobs::Cancel;
use lab::blobs::Staged;
use scheduler::{AttemptId, Decision, DeviceId, Ending, JobId, TaskId};
use serde_json::json;
use store::StoreError;
use store::jobs::{Changes, Job, Quarantine, Request, RequestKey};
use tracing::{error, info, warn};

use super::lease::{label, lease_id, lease_owner};
use super::{Driver, Running};
use crate::attempt::{self, Attempt};
use crate::bench::Grant;
use crate::notice;
use crate::record::{Entry, Left};

/// Between two tries to store what was decided. Nothing else is decided meanwhile, and the server says that it is not
/// ready.
const STORE_RETRY: Duration = Duration::from_secs(1);

/// What happened at once, and what was decided about it.
#[derive(Default)]
pub(crate) struct Change {
    pub(crate) decisions: Vec<Decision>,
    /// Jobs that have changed, whether or not something was decided about them.
    pub(crate) touched: BTreeSet<String>,
    pub(crate) request: Option<(RequestKey, Request)>,
    pub(crate) archive: Option<Staged>,
    /// What an attempt left that has ended.
    pub(crate) left: Option<(AttemptId, Left)>,
    pub(crate) staged: Vec<Staged>,
}

/// Why nothing was stored.
#[derive(Debug, thiserror::Error)]
enum Unwritten {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("keep a file of a job")]
    Blob(#[from] std::io::Error),
}

/// What is to be done once all is stored.
#[derive(Default)]
struct Work {
    /// Attempts that have their place; with each, its device.
    begin: Vec<(AttemptId, Option<String>)>,
    /// With each: whether it was told before.
    stop: Vec<(AttemptId, bool)>,
    is_drained: bool,
}

/// Decisions on their way into the records.
struct Noted {
    now_ms: u64,
    touched: BTreeSet<String>,
    left: Option<(AttemptId, Left)>,
    changes: Changes,
    quarantined: Vec<(String, scheduler::Quarantine)>,
    /// A task that no device will do for, and why.
    unmatched: Option<(TaskId, String)>,
    work: Work,
}

impl Noted {
    fn touch(&mut self, job: &JobId) {
        self.touched.insert(job.to_string());
    }
}

impl Change {
    pub(crate) fn of(decisions: Vec<Decision>) -> Self {
        Self {
            decisions,
            ..Self::default()
        }
    }

    /// Something happened to an attempt's job.
    pub(crate) fn touching(attempt: &AttemptId) -> Self {
        let mut change = Self::default();
        change.touched.insert(attempt.task.job.to_string());
        change
    }

    pub(crate) fn and(mut self, decisions: Vec<Decision>) -> Self {
        self.decisions.extend(decisions);
        self
    }
}

impl Driver {
    /// Stores what was decided, then carries it out. The jobs that have changed, as they are now.
    pub(crate) async fn settle(&mut self, change: Change) -> Vec<Arc<Job>> {
        let mut noted = Noted {
            now_ms: self.clock.now_ms(),
            touched: change.touched,
            left: change.left,
            changes: Changes {
                request: change.request,
                ..Changes::default()
            },
            quarantined: Vec::new(),
            unmatched: None,
            work: Work::default(),
        };
        for decision in change.decisions {
            self.note(decision, &mut noted);
        }
        let Noted {
            touched,
            mut changes,
            quarantined,
            work,
            ..
        } = noted;
        let mut happenings = Vec::new();
        for id in &touched {
            let Some(entry) = self.entries.get_mut(id) else {
                continue;
            };
            let stored = self.scheduler.stored(&entry.id());
            if let Some(stored) = &stored {
                entry.goes_on(stored);
            }
            self.tools.ledger.record(&entry.job);
            let standing = notice::standing(&entry.job);
            if entry.told.replace(standing) != Some(standing) {
                let notice = notice::of(&entry.job, &self.clock);
                changes.notices.push(notice);
                happenings.push(notice::happening(&entry.job, standing, &self.clock));
            }
            changes.jobs.push(entry.record(stored.as_ref()));
        }
        let has_news = !changes.notices.is_empty();
        if has_news {
            changes.repositories = self.repositories.clone();
        }
        let staged = change.archive.into_iter().chain(change.staged).collect();
        self.write(changes, staged).await;
        if has_news {
            self.noticed.notify_one();
        }
        for happening in happenings {
            self.devices.news().tell(&happening);
        }
        for (device, quarantine) in quarantined {
            let told = json!({
                "reason": quarantine.reason,
                "jobs": quarantine.jobs.iter().map(ToString::to_string).collect::<Vec<_>>(),
            });
            self.board.quarantine(&device, quarantine);
            let kind = Kind::DeviceQuarantined;
            self.devices.tell(kind, &device, &device, told);
        }
        self.carry_out(work);
        self.show(&touched)
    }

    /// Writes a decision into the records, and down what is to be done about it.
    fn note(&mut self, decision: Decision, noted: &mut Noted) {
        let now_ms = noted.now_ms;
        match decision {
            Decision::Assign { attempt, device } => {
                noted.touch(&attempt.task.job);
                noted.changes.epoch = noted.changes.epoch.max(Some(attempt.epoch));
                let device = device.map(|device| device.to_string());
                let lease = device.clone().map(|device| (device, lease_id(&attempt)));
                let meter = self.tools.meter.clone();
                self.with_entry(&attempt, |entry| {
                    if entry.job.started_ms.is_none() {
                        meter.waited(now_ms.saturating_sub(entry.job.created_ms));
                    }
                    entry.assigned(&attempt, lease, now_ms);
                });
                noted.work.begin.push((attempt, device));
            }
            Decision::Stop { attempt, hard, .. } => {
                noted.touch(&attempt.task.job);
                noted.work.stop.push((attempt, hard));
            }
            Decision::Requeue { attempt, ending } => {
                noted.touch(&attempt.task.job);
                info!(job = %attempt.task.job, attempt = attempt.number, ?ending, "an attempt is repeated");
                let repeated = || (attempt.clone(), Left::repeated(ending));
                noted.left.get_or_insert_with(repeated);
                self.attempt_ended(&attempt, ending, noted);
            }
            Decision::Unmatched { task, misfits } => {
                let why = scheduler::unmatched(&misfits, |id| self.name_of(&task.job.0, id));
                noted.unmatched = Some((task, why));
            }
            Decision::TaskEnded {
                task,
                attempt,
                ending,
            } => self.task_ended(&task, attempt.as_ref(), ending, noted),
            Decision::Finish {
                job,
                axes,
                ending,
                blamed,
            } => {
                noted.touch(&job);
                info!(%job, ?ending, "job finished");
                let blamed = self.names(&job.0, &blamed);
                if let Some(entry) = self.entries.get_mut(&*job.0) {
                    entry.finished(axes, ending, &blamed, now_ms);
                }
            }
            Decision::Quarantine { device, quarantine } => {
                warn!(%device, reason = quarantine.reason, "no job gets this device until somebody re-admits it");
                noted.changes.quarantines.push(Quarantine {
                    device: device.to_string(),
                    reason: quarantine.reason.clone(),
                    jobs: quarantine.jobs.iter().map(ToString::to_string).collect(),
                    since_ms: now_ms,
                });
                noted.quarantined.push((device.to_string(), quarantine));
            }
            Decision::Drained => noted.work.is_drained = true,
        }
    }

    fn task_ended(
        &mut self,
        task: &TaskId,
        attempt: Option<&AttemptId>,
        ending: Ending,
        noted: &mut Noted,
    ) {
        noted.touch(&task.job);
        if let Some(attempt) = attempt {
            self.attempt_ended(attempt, ending, noted);
        }
        let last = attempt.map(|attempt| attempt.number);
        if let Some(entry) = self.entries.get_mut(&*task.job.0) {
            entry.run_ended(task.task, last, ending);
            if let Some((_, why)) = noted.unmatched.take_if(|(of, _)| of == task) {
                entry.run_says(task.task, why);
            }
        }
    }

    fn attempt_ended(&mut self, attempt: &AttemptId, ending: Ending, noted: &mut Noted) {
        let own = noted.left.take_if(|(of, _)| of == attempt);
        let own = own.map_or_else(Left::default, |(_, left)| left);
        let now_ms = noted.now_ms;
        self.tools.meter.ended(ending, own.log_bytes);
        let memory = self.tools.memory.clone();
        let measurements = &mut noted.changes.measurements;
        self.with_entry(attempt, |entry| {
            let measured = entry.attempt_ended(attempt.number, ending, own, now_ms);
            if !measured.is_empty() {
                measurements.push((entry.job.org.clone(), measured));
            }
            entry.count_masks(&memory);
        });
    }

    fn names(&self, job: &str, devices: &[DeviceId]) -> Vec<String> {
        devices.iter().map(|id| self.name_of(job, id)).collect()
    }

    /// What the organisation of a job calls a device.
    fn name_of(&self, job: &str, device: &DeviceId) -> String {
        let entry = self.entries.get(job);
        let device_of = |entry: &Entry| self.devices.get(&entry.job.org, &device.0);
        let found = entry.and_then(device_of);
        found.map_or_else(|| device.to_string(), |found| found.record.name)
    }

    /// Stores the changes, with the blobs that they refer to. Goes on only when they are on disk.
    async fn write(&self, changes: Changes, staged: Vec<Staged>) {
        if changes == Changes::default() {
            return;
        }
        loop {
            match self.try_write(&changes, &staged).await {
                Ok(()) => return,
                // The process is about to end, and finds everything as it was stored last.
                Err(Unwritten::Store(StoreError::Closed)) => return std::future::pending().await,
                Err(error) => {
                    error!(%error, "failed to store what was decided about jobs; trying again");
                    tokio::time::sleep(STORE_RETRY).await;
                }
            }
        }
    }

    async fn try_write(&self, changes: &Changes, staged: &[Staged]) -> Result<(), Unwritten> {
        if staged.is_empty() {
            return Ok(self.store.jobs_change(changes.clone()).await?);
        }
        let blobs = &self.tools.blobs;
        let turn = blobs.turn().await;
        for staged in staged {
            blobs.keep(&turn, staged)?;
        }
        Ok(self.store.jobs_change(changes.clone()).await?)
    }

    fn carry_out(&mut self, work: Work) {
        for (attempt, device) in work.begin {
            self.begin(attempt, device);
        }
        for (attempt, hard) in work.stop {
            if let Some(running) = self.running.get(&attempt) {
                if hard {
                    warn!(job = %attempt.task.job, attempt = attempt.number, "an attempt does not stop");
                }
                running.cancel.cancel();
            }
        }
        if work.is_drained {
            for waiting in self.drained.drain(..) {
                // Whoever waited may have given up.
                let _ = waiting.send(());
            }
        }
    }

    fn begin(&mut self, id: AttemptId, device: Option<String>) {
        let Some(entry) = self.entries.get(&*id.task.job.0) else {
            return;
        };
        let cancel = Cancel::default();
        let running = Running {
            cancel: cancel.clone(),
            device: device.clone(),
        };
        let attempt = self.attempt(entry, &id, device, cancel);
        self.running.insert(id, running);
        tokio::spawn(attempt::carry_out(
            self.tools.clone(),
            attempt,
            self.events.clone(),
        ));
    }

    fn attempt(
        &self,
        entry: &Entry,
        id: &AttemptId,
        device: Option<String>,
        cancel: Cancel,
    ) -> Attempt {
        let job = &entry.job;
        let found = device
            .as_ref()
            .and_then(|device| self.devices.get(&job.org, device));
        let lease = entry
            .attempt(id.number)
            .and_then(|attempt| attempt.lease_id.clone());
        let run = job.runs.get(id.task.task as usize);
        let run = run.map(|run| run.id.clone()).unwrap_or_default();
        let grant = device.zip(lease).map(|(device, lease_id)| Grant {
            job: job.id.clone(),
            run: run.clone(),
            attempt: id.number,
            org: job.org.clone(),
            user: job.user.clone(),
            device,
            lease_id,
            lease_owner: lease_owner(job),
        });
        let begun_ms = job.started_ms.unwrap_or_default();
        let gone_ms = self.clock.now_ms().saturating_sub(begun_ms);
        let left_ms = entry.job_ms.saturating_sub(gone_ms);
        Attempt {
            id: id.clone(),
            run,
            org: job.org.clone(),
            user: job.user.clone(),
            reference: job.r#ref.clone(),
            masks: entry.masks.clone(),
            made: made(entry),
            begun: begun(self.clock.now_ms().saturating_sub(job.created_ms)),
            job_deadline: Instant::now() + Duration::from_millis(left_ms),
            grant,
            device_name: found.map(|device| device.record.name).unwrap_or_default(),
            label: label(job),
            cancel,
        }
    }

    /// Shows the jobs to their followers; those that are over are not kept here.
    fn show(&mut self, touched: &BTreeSet<String>) -> Vec<Arc<Job>> {
        let mut shown = Vec::new();
        for id in touched {
            let Some(job) = self.entries.get(id).map(|entry| entry.job.clone()) else {
                continue;
            };
            self.board.show(job.clone());
            if job.queue.is_none() {
                self.entries.remove(id);
                let (files, id) = (self.tools.files.clone(), id.clone());
                tokio::task::spawn_blocking(move || {
                    if let Err(error) = files.drop_source(&id) {
                        warn!(job = id, %error, "failed to remove the sources of a finished job");
                    }
                });
            }
            shown.push(job);
        }
        shown
    }
}

/// So long ago, as far as the clock reaches back.
fn begun(ago_ms: u64) -> Instant {
    let now = Instant::now();
    now.checked_sub(Duration::from_millis(ago_ms))
        .unwrap_or(now)
}

/// Digests of what the runs of a job have made, by run and name.
fn made(entry: &Entry) -> BTreeMap<(String, String), String> {
    let runs = entry.job.runs.iter();
    let files = runs.flat_map(|run| {
        let files = entry.files_of(&run.id).unwrap_or_default();
        files
            .iter()
            .map(|file| ((run.id.clone(), file.name.clone()), file.sha256.clone()))
    });
    files.collect()
}
