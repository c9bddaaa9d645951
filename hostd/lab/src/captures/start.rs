//! Starting a capture: the order is checked, stored as pending and queued.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use pods::{PodError, SessionKind};
use tokio::sync::{Semaphore, oneshot, watch};

use super::feed::Event;
use super::name;
use super::order::OfJob;
use super::plan::{Level, Plan};
use super::quota::Usage;
use super::{CaptureError, Captures, Running, recording, task};
use crate::captures::order;
use crate::leases::{Entered, Visit};
use crate::replay::Stimulus;
use crate::wiring;
use base::{id, news};
use store::captures::{CaptureRecord, Kind, Setup};

/// A capture whose samples are still to come.
const ONE: Usage = Usage { count: 1, bytes: 0 };

impl Captures {
    /// Check an order and start it. The record is durable when this returns; with it comes a sentence
    /// for each number of the order that the pod will change. `stimulus` is the waveform that a
    /// measurement names, `of` the job that records: without a name of its own, the capture has the name of job, run and
    /// step. `setup` is what the device is used with, but for its wiring. It is cancelled when the visit ends.
    ///
    /// # Errors
    /// The device is unknown, offline or busy; the order is out of bounds; there is no room; or the
    /// store fails.
    pub async fn start(
        self: &Arc<Self>,
        entered: Entered,
        order: &order::Order,
        stimulus: Option<Stimulus>,
        of: Option<OfJob>,
        setup: Setup,
    ) -> Result<(CaptureRecord, Vec<String>), CaptureError> {
        let Entered { device, pod, visit } = entered;
        let capabilities = device.capabilities().ok_or(CaptureError::Offline)?;
        let plan = Plan::check(order, capabilities, self.config.samples_max, stimulus)?;
        self.space.admit(0).map_err(CaptureError::Files)?;
        let org = &device.record.org;
        let name = self.name_of(order, of.as_ref(), (org, plan.kind)).await?;
        let (job, origin) = of.map(|of| (of.job, of.origin)).unzip();
        let wiring = wiring::current(&self.store, org, &device.record.id).await?;
        let record = CaptureRecord {
            name,
            triggered: order.trigger.as_ref().map(|_| false),
            pre_samples: order.pre_samples,
            channels: recording::channels(&plan, capabilities),
            i2c: plan.i2c,
            job,
            origin,
            setup: Setup { wiring, ..setup },
            ..CaptureRecord::new(
                id::ulid(&self.clock),
                org.clone(),
                device.record.id.clone(),
                plan.kind,
                self.clock.now_ms(),
            )
        };
        let (cancel, cancelled) = watch::channel(false);
        let id = &device.record.id;
        self.check_free(id, &pod)?;
        self.check_level(id, &pod, capabilities, plan.level).await?;
        let selects_level = matches!(plan.level, Level::Select(_));
        self.enter(&record, selects_level, cancel)?;
        let warnings = plan.warnings.clone();
        let lane = self.lane(&device.record.id);
        let task = task::Task {
            captures: self.clone(),
            pod,
            plan,
            record: record.clone(),
            cancelled,
        };
        self.launch(task, visit, lane).await?;
        Ok((record, warnings))
    }

    /// Stores the record of a recording and begins it, on a task of its own, so that the visit ends properly even if the caller
    /// goes away.
    async fn launch(
        self: &Arc<Self>,
        task: task::Task,
        mut visit: Visit,
        lane: Arc<Semaphore>,
    ) -> Result<(), CaptureError> {
        let (captures, (told, outcome)) = (self.clone(), oneshot::channel());
        tokio::spawn(async move {
            let put = captures.put_first(&task.record).await;
            if put.is_err() {
                captures.leave(&task.record.id);
            }
            let is_stored = put.is_ok();
            // The caller may be gone; the capture goes on regardless.
            let _ = told.send(put);
            if is_stored {
                captures.tell(news::Kind::CaptureStarted, &task.record);
                let feed = captures.feeds.of(&task.record.device);
                feed.tell(Event::State(task.record.clone()));
                let id = task.record.id.clone();
                let mut go = std::pin::pin!(task.go(lane));
                tokio::select! {
                    () = &mut go => return,
                    () = visit.over() => captures.stop_one(&id),
                }
                go.await;
                drop(visit);
            }
        });
        outcome
            .await
            .map_err(|_| CaptureError::State("the capture could not be started"))?
    }

    /// The name that it was given, or else that of what of a job records, which nothing else has that the job recorded.
    async fn name_of(
        &self,
        order: &order::Order,
        of: Option<&OfJob>,
        (org, kind): (&str, Kind),
    ) -> Result<Option<String>, CaptureError> {
        let Some(of) = of.filter(|_| order.name.is_none()) else {
            return Ok(order.name.clone());
        };
        let made = self.store.captures_of_job(org, &of.job).await?;
        let taken = made.iter().filter_map(|made| made.name.as_deref());
        Ok(Some(name::in_job(of, kind, &taken.collect())))
    }

    /// Store a capture that begins, if there is room for one more.
    async fn put_first(self: &Arc<Self>, record: &CaptureRecord) -> Result<(), CaptureError> {
        self.claim(&record.org, ONE).await?;
        let put = self.store.capture_put(record.clone()).await;
        if put.is_err() {
            self.ledger.give_back(&record.org, ONE);
        }
        Ok(put?)
    }

    /// Refuse a capture that would only wait for somebody else's session to end. A capture that
    /// waits for another capture is queued.
    fn check_free(&self, device: &str, pod: &pods::Pod) -> Result<(), CaptureError> {
        if self.running().values().any(|r| r.device == device) {
            return Ok(());
        }
        let wanted = SessionKind::Capture;
        let open = pod.sessions();
        let refused = match open.into_iter().find(|held| held.excludes(wanted)) {
            Some(held) => PodError::Busy { wanted, held },
            None => match pod.check_permit() {
                Ok(()) => return Ok(()),
                Err(error) => error,
            },
        };
        Err(CaptureError::InUse(refused.to_string()))
    }

    fn enter(
        &self,
        record: &CaptureRecord,
        selects_level: bool,
        cancel: watch::Sender<bool>,
    ) -> Result<(), CaptureError> {
        let mut running = self.running();
        if self.stopping.load(Ordering::Acquire) {
            return Err(CaptureError::State("the server is stopping"));
        }
        let waiting = running
            .values()
            .filter(|r| r.device == record.device)
            .count();
        if waiting >= self.config.queue_max as usize {
            return Err(CaptureError::Busy { waiting });
        }
        running.insert(
            record.id.clone(),
            Running {
                device: record.device.clone(),
                selects_level,
                cancel,
                begun: watch::Sender::new(false),
            },
        );
        Ok(())
    }

    fn lane(&self, device: &str) -> Arc<Semaphore> {
        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        let lane = lanes.entry(device.to_owned());
        lane.or_insert_with(|| Arc::new(Semaphore::new(1))).clone()
    }
}
