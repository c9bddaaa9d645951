//! The driver: the one task that owns the queue. Events come in, decisions are stored, and then carried out.

mod devices;
mod event;
mod lease;
mod prospects;
mod refused;
mod settle;
mod waits;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use base::clock::Clock;
use base::config::AtQuota;
use jobs::Cancel;
use lab::devices::Devices;
use scheduler::{AttemptId, Decision, JobId, Scheduler};
use store::Store;
use store::commit_statuses::Audience;
use store::jobs::Job;
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tracing::{info, warn};

use crate::aside;
use crate::attempt::Tools;
use crate::board::Board;
use crate::error::JobError;
use crate::facts::Wants;
use crate::record::Entry;
use crate::why::{self, Why};
pub(crate) use event::{Arrival, Event, Events, Refusal};
pub(crate) use lease::is_lease_owner;
pub(crate) use prospects::Prospective;
pub(crate) use refused::Refused;
use settle::Change;
pub(crate) use waits::Waits;

/// Longest sleep between two looks at the clock: it may be set.
const LOOK_EVERY: Duration = Duration::from_secs(30);

/// The queue and everything that is under way.
pub(crate) struct Driver {
    pub(crate) scheduler: Scheduler<Wants>,
    pub(crate) entries: HashMap<String, Entry>,
    pub(crate) running: HashMap<AttemptId, Running>,
    /// Devices that the scheduler knows.
    pub(crate) known: HashSet<String>,
    pub(crate) refused: Refused,
    pub(crate) waits: Waits,
    pub(crate) tools: Arc<Tools>,
    pub(crate) store: Store,
    pub(crate) clock: Clock,
    pub(crate) devices: Arc<Devices>,
    pub(crate) board: Arc<Board>,
    pub(crate) events: Events,
    pub(crate) drained: Vec<oneshot::Sender<()>>,
    pub(crate) noticed: Arc<Notify>,
    pub(crate) repositories: Arc<[Audience]>,
}

/// An attempt that is under way.
pub(crate) struct Running {
    pub(crate) cancel: Cancel,
    pub(crate) device: Option<String>,
}

impl Driver {
    /// Drives the queue until nobody can send events any more.
    pub(crate) async fn run(mut self, mut inbox: mpsc::Receiver<Event>, restored: Vec<Decision>) {
        let mut attached = self.devices.changed();
        let mut leased = self.tools.leases.changes();
        self.settle(Change::of(restored)).await;
        self.look_at_devices().await;
        self.waits.note();
        loop {
            tokio::select! {
                () = self.waits.due() => {
                    self.tell_waits();
                    continue;
                }
                event = inbox.recv() => match event {
                    Some(event) => self.handle(event).await,
                    None => return,
                },
                () = tokio::time::sleep(self.until_deadline()) => {
                    let decisions = self.scheduler.tick(self.clock.now_ms());
                    self.settle(Change::of(decisions)).await;
                    self.look_at_devices().await;
                }
                () = changed(&mut attached) => self.look_at_devices().await,
                () = changed(&mut leased) => self.look_at_devices().await,
            }
            self.waits.note();
        }
    }

    fn until_deadline(&self) -> Duration {
        let asks = self.refused.next_ms().into_iter();
        let next_ms = asks.chain(self.scheduler.next_deadline_ms()).min();
        let left = |at_ms: u64| Duration::from_millis(at_ms.saturating_sub(self.clock.now_ms()));
        next_ms.map_or(LOOK_EVERY, left).min(LOOK_EVERY)
    }

    async fn handle(&mut self, event: Event) {
        let now_ms = self.clock.now_ms();
        match event {
            Event::Submit(arrival, answer) => {
                let submitted = self.submit(*arrival, now_ms).await;
                // Whoever asked may be gone; the job is queued all the same.
                let _ = answer.send(submitted);
            }
            Event::Cancel(org, job, answer) => {
                let _ = answer.send(self.cancel(&org, &job, now_ms).await);
            }
            Event::Why(job, answer) => {
                let _ = answer.send(self.why(&job));
            }
            Event::Prospects(job, answer) => {
                let _ = answer.send(self.prospects(&job));
            }
            Event::Readmit(device, answer) => {
                let ended = self.store.quarantine_end(&device).await;
                if ended.as_ref().is_ok_and(|was| *was) {
                    self.board.trust(&device);
                    info!(device, "jobs may have the device again");
                    let decisions = self.scheduler.readmit(&device.as_str().into(), now_ms);
                    self.settle(Change::of(decisions)).await;
                }
                let _ = answer.send(ended.map_err(JobError::from));
            }
            Event::Started(attempt) => {
                if self.scheduler.started(&attempt, now_ms) {
                    self.with_entry(&attempt, |entry| entry.started(attempt.number, now_ms));
                    self.settle(Change::touching(&attempt)).await;
                }
            }
            Event::FirstOutput(attempt, answer) => {
                let may = self.scheduler.first_output(&attempt, now_ms);
                if may {
                    self.settle(Change::touching(&attempt)).await;
                }
                let _ = answer.send(may);
            }
            Event::Ended(attempt, ended) => self.ended(&attempt, *ended, now_ms).await,
            Event::GiveBack(attempt, refusal) => {
                let Refusal {
                    holder,
                    expires_ms,
                    retry_ms,
                } = refusal;
                let running = self.running.remove(&attempt);
                if let Some(device) = running.and_then(|running| running.device)
                    && self.tools.leases.holder(&device).is_none()
                {
                    let at_ms = now_ms.saturating_add(retry_ms);
                    self.refused.note(device, holder.clone(), at_ms);
                }
                self.with_entry(&attempt, |entry| entry.given_back(attempt.number));
                let decisions = self
                    .scheduler
                    .give_back(&attempt, &holder, expires_ms, now_ms);
                self.settle(Change::touching(&attempt).and(decisions)).await;
                // The device may have become free before the scheduler heard that it is held.
                self.look_at_devices().await;
            }
            Event::Drain(answer) => {
                self.drained.push(answer);
                let decisions = self.scheduler.drain(now_ms);
                self.settle(Change::of(decisions)).await;
            }
        }
    }

    async fn submit(
        &mut self,
        arrival: Arrival,
        now_ms: u64,
    ) -> Result<(Arc<Job>, bool), JobError> {
        if let Some((key, request)) = &arrival.request {
            let asked = key.clone();
            let used = self
                .store
                .read(move |s| store::jobs::request(s, &asked))
                .await?;
            if let Some(used) = used {
                return self
                    .replay(&arrival.entry.job.org, used, &request.digest)
                    .await;
            }
        }
        if let Some(objection) = arrival.objection {
            return Err(objection);
        }
        self.make_room(&arrival.entry.job).await?;
        let id = arrival.entry.job.id.clone();
        let decisions = self.scheduler.submit(arrival.submission, now_ms);
        let decisions = decisions.inspect_err(|_| self.tools.ledger.give_back(&id))?;
        self.entries.insert(id.clone(), arrival.entry);
        let mut change = Change::of(decisions);
        change.touched.insert(id.clone());
        change.request = arrival.request;
        change.archive = arrival.archive;
        let shown = self.settle(change).await;
        info!(job = id, "job queued");
        let queued = shown.into_iter().find(|job| job.id == id);
        Ok((queued.ok_or(JobError::NotFound)?, false))
    }

    /// Takes the bytes of a job out of its organisation's quota.
    async fn make_room(&self, job: &Job) -> Result<(), JobError> {
        let ledger = &self.tools.ledger;
        let full = |_| JobError::Quota(ledger.sentence());
        let Err(over) = ledger.claim(job) else {
            return Ok(());
        };
        if self.tools.at_quota == AtQuota::Refuse {
            return Err(full(over));
        }
        let gone = self.store.jobs_give_way(&job.org, over.0).await?;
        self.tools
            .forget(gone, "a job gave way to a newer one")
            .await?;
        ledger.claim(job).map_err(full)
    }

    async fn replay(
        &self,
        org: &str,
        used: store::jobs::Request,
        digest: &str,
    ) -> Result<(Arc<Job>, bool), JobError> {
        if used.digest != digest {
            return Err(JobError::KeyReused);
        }
        let org = org.to_owned();
        let job = self
            .store
            .read(move |s| store::jobs::by_id(s, &org, &used.job))
            .await?;
        let job = aside::told(job.ok_or(JobError::KeyReused)?);
        Ok((Arc::new(job), true))
    }

    async fn cancel(&mut self, org: &str, job: &str, now_ms: u64) -> Result<Arc<Job>, JobError> {
        let entry = self.entries.get(job).filter(|entry| entry.job.org == org);
        let before = entry.ok_or(JobError::Finished)?.job.clone();
        let decisions = self.scheduler.cancel(&JobId::from(job), now_ms);
        let mut change = Change::of(decisions);
        change.touched.insert(job.to_owned());
        let shown = self.settle(change).await;
        Ok(shown
            .into_iter()
            .find(|shown| shown.id == job)
            .unwrap_or(before))
    }

    fn why(&self, job: &str) -> Option<Why> {
        let entry = self.entries.get(job)?;
        let why = self.scheduler.why(&JobId::from(job))?;
        let name = |id: &str| Some(self.devices.get(&entry.job.org, id)?.record.name);
        Some(why::of(entry, why, name))
    }

    async fn ended(&mut self, attempt: &AttemptId, ended: crate::attempt::Ended, now_ms: u64) {
        self.running.remove(attempt);
        if let Some(device) = &ended.owes {
            self.scheduler
                .held(&device.as_str().into(), MAKING_SAFE, None);
        }
        let ending = ended.told.ending;
        let mut left = ended.left;
        left.told = Some(ended.told);
        let decisions = self.scheduler.ended(attempt, ending, now_ms);
        if decisions.is_empty() {
            warn!(job = %attempt.task.job, attempt = attempt.number, "an attempt ended that was given up before");
        }
        let mut change = Change::of(decisions);
        change.left = Some((attempt.clone(), left));
        change.staged = ended.staged;
        self.settle(change).await;
        self.look_at_devices().await;
    }

    fn with_entry(&mut self, attempt: &AttemptId, change: impl FnOnce(&mut Entry)) {
        if let Some(entry) = self.entries.get_mut(&*attempt.task.job.0) {
            change(entry);
        }
    }
}

/// What is told as the holder of a device that owes its safe state.
pub(crate) const MAKING_SAFE: &str = "the server, which makes it safe";

/// Resolves at each change; never when nobody is left who could make one.
async fn changed(receiver: &mut watch::Receiver<()>) {
    if receiver.changed().await.is_err() {
        std::future::pending::<()>().await;
    }
}
