//! A capture's way in: what was ordered is checked, stored as pending and takes its turn.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use pods::{PodError, SessionKind};
use tokio::sync::{Semaphore, oneshot, watch};

use super::feed::Event;
use super::plan::Plan;
use super::{CaptureError, Captures, Running, recording, run};
use crate::host::bindings::bench::host::captures as wit;
use crate::id;
use crate::replay::Stimulus;
use crate::store::captures::{CaptureRecord, Status};

impl Captures {
    /// Check an order and start it. The record is durable when this returns. `stimulus` is the
    /// waveform that a measurement names.
    ///
    /// # Errors
    /// The device is unknown, offline or busy; the order is out of bounds; the store.
    pub async fn start(
        self: &Arc<Self>,
        org: &str,
        order: &wit::Order,
        stimulus: Option<Stimulus>,
    ) -> Result<CaptureRecord, CaptureError> {
        let device = self.bench.get(org, &order.device);
        let device = device.ok_or(CaptureError::NoDevice)?;
        let pod = self.bench.pod(org, &order.device);
        let (Some(pod), Some(capabilities)) = (pod, device.capabilities()) else {
            return Err(CaptureError::Offline);
        };
        let plan = Plan::check(order, capabilities, self.config.samples_max, stimulus)?;
        let record = CaptureRecord {
            id: id::ulid(&self.clock),
            org: org.to_owned(),
            device: order.device.clone(),
            kind: plan.kind.into(),
            name: order.name.clone(),
            status: Status::Pending,
            error: None,
            created_ms: self.clock.now_ms(),
            finished_ms: None,
            triggered: order.trigger.as_ref().map(|_| false),
            channels: recording::channels(&plan, capabilities),
            i2c: plan.i2c,
        };
        let (cancel, cancelled) = watch::channel(false);
        self.check_free(&order.device, &pod)?;
        self.enter(&record, cancel)?;
        let lane = self.lane(&order.device);
        let run = run::Run {
            captures: self.clone(),
            pod,
            plan,
            record: record.clone(),
            cancelled,
        };
        // On a task of its own: what was entered is left again even if the caller goes away.
        let captures = self.clone();
        let (told, outcome) = oneshot::channel();
        tokio::spawn(async move {
            let put = captures.store.capture_put(run.record.clone()).await;
            let stored = put.is_ok();
            if !stored {
                captures.leave(&run.record.id);
            }
            // Nobody may be listening any more; the capture goes on all the same.
            let _ = told.send(put);
            if stored {
                let feed = captures.feeds.of(&run.record.device);
                feed.tell(Event::State(run.record.clone()));
                run.go(lane).await;
            }
        });
        outcome
            .await
            .map_err(|_| CaptureError::State("the capture could not be started"))??;
        Ok(record)
    }

    /// Refuse a capture that would only wait for a session of somebody else to end. One that waits
    /// for another capture has its place in the queue.
    fn check_free(&self, device: &str, pod: &pods::Pod) -> Result<(), CaptureError> {
        if self.running().values().any(|r| r.device == device) {
            return Ok(());
        }
        let wanted = SessionKind::Capture;
        let open = pod.sessions();
        let refused = match open.into_iter().find(|held| held.excludes(wanted)) {
            Some(held) => PodError::Busy { wanted, held },
            None => match pod.check_place() {
                Ok(()) => return Ok(()),
                Err(error) => error,
            },
        };
        Err(CaptureError::InUse(refused.to_string()))
    }

    fn enter(
        &self,
        record: &CaptureRecord,
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
                cancel,
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
