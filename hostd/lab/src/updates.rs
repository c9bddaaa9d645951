//! Updates of the pods' own firmware: one at a time per device, in the background.
//!
//! The phases are in [`Phase`], the conversation with the pod in `task`. A phase is durable before
//! the next step; the next start marks updates that were unfinished when the process ended as
//! failed. While an update runs, the device is closed to everybody else.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pods::{PodError, SessionKind};
use serde_json::json;
use tokio::sync::Notify;
use tokio::time::timeout;
use tracing::{error, info, warn};

use crate::devices::Devices;
use crate::leases::{Busy, Leases, Shown};
use crate::uart::{Uarts, Work};
use base::clock::{self, Clock};
use base::{id, news};
use store::updates::UpdateRecord;
use store::{Store, StoreError};

pub mod image;
mod live;
mod task;

use image::Image;
use live::{Live, Stop};
use store::updates::Phase;

/// Most concurrent updates; each holds its image in memory.
const RUNNING_MAX: usize = 32;

/// The holder that others see while a device is being updated.
const HOLDER: &str = "a firmware update";

/// How long abandoning an update may take: the part being sent, then the pod's answer.
const ABORT_WAIT: Duration = Duration::from_secs(15);

/// How long a stopping server waits for pods to drop their images.
const STOP_WAIT: Duration = Duration::from_secs(5);

/// The stored error of an update that was unfinished when the process ended.
const INTERRUPTED: &str =
    "hostd was restarted while the image was on its way; the pod was not changed";
const INTERRUPTED_LATE: &str = "hostd was restarted while the pod installed the image; \
     its firmware version tells whether it did";

/// The parameters of an update besides its image.
#[derive(Debug, Clone, Default)]
pub struct Terms {
    /// Signature block for the pod.
    pub signature: Option<Vec<u8>>,
    /// Version that the pod must report after the update. None = any.
    pub version: Option<String>,
}

/// All updates.
#[derive(Debug)]
pub struct Updates {
    store: Store,
    clock: Clock,
    devices: Arc<Devices>,
    leases: Arc<Leases>,
    uarts: Arc<Uarts>,
    /// By device id.
    running: Mutex<HashMap<String, Arc<Live>>>,
    stopping: AtomicBool,
    /// Notified when an update has left `running`.
    left: Notify,
}

/// Why an update cannot be started or abandoned.
#[derive(Debug, thiserror::Error)]
pub enum UpdateError {
    #[error("there is no such device")]
    NoDevice,
    #[error("the device is offline")]
    Offline,
    #[error("the board takes no updates")]
    NotCapable,
    #[error("somebody else drives the device")]
    Busy(Busy),
    #[error("an update of the device is in progress")]
    Running,
    #[error("{RUNNING_MAX} updates are in progress already")]
    Full,
    #[error("{0}")]
    InUse(String),
    #[error("{0}")]
    State(&'static str),
    #[error("ask the pod")]
    Pod(#[source] PodError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Updates {
    /// Mark what an earlier process left unfinished as failed.
    ///
    /// # Errors
    /// The store.
    pub async fn open(
        store: Store,
        clock: Clock,
        devices: Arc<Devices>,
        leases: Arc<Leases>,
        uarts: Arc<Uarts>,
    ) -> Result<Arc<Self>, StoreError> {
        for mut record in store.updates_unfinished().await? {
            let text = if record.phase.may_abort() {
                INTERRUPTED
            } else {
                INTERRUPTED_LATE
            };
            info!(update = record.id, phase = ?record.phase, "failed: it was unfinished at the last stop");
            record.phase = Phase::Failed;
            record.error = Some(text.to_owned());
            record.finished_ms = Some(clock.now_ms());
            store.update_put(record).await?;
        }
        Ok(Arc::new(Self {
            store,
            clock,
            devices,
            leases,
            uarts,
            running: Mutex::default(),
            stopping: AtomicBool::new(false),
            left: Notify::new(),
        }))
    }

    /// Start an update of a device's pod. The record is durable when this returns.
    ///
    /// # Errors
    /// The device is unknown, offline or in use, its board takes no updates, or the store fails.
    pub async fn start(
        self: &Arc<Self>,
        org: &str,
        device: &str,
        shown: Shown<'_>,
        image: Image,
        terms: Terms,
    ) -> Result<UpdateRecord, UpdateError> {
        let found = self.devices.get(org, device).ok_or(UpdateError::NoDevice)?;
        if self.is_running(device) {
            return Err(UpdateError::Running);
        }
        let pod = self.devices.pod(org, device).ok_or(UpdateError::Offline)?;
        let facts = found.facts.as_ref().ok_or(UpdateError::Offline)?;
        if facts.capabilities.ota == Some(false) {
            return Err(UpdateError::NotCapable);
        }
        let closed = self.leases.close(device, shown, HOLDER);
        let (visit, closed) = closed.map_err(UpdateError::Busy)?;
        // Open tunnels and captures go on, and the pod could not stage an image beside them.
        let session = pod.begin(SessionKind::Update).await;
        let session = session.map_err(|error| match error {
            PodError::Busy { .. } | PodError::NoPermit { .. } => {
                UpdateError::InUse(error.to_string())
            }
            PodError::Offline { .. } | PodError::Ended(_) => UpdateError::Offline,
            other => UpdateError::Pod(other),
        })?;
        let record = UpdateRecord {
            id: id::ulid(&self.clock),
            org: org.to_owned(),
            device: device.to_owned(),
            phase: Phase::Transferring,
            bytes: 0,
            bytes_total: image.bytes.len() as u64,
            sha256: image.sha256.clone(),
            signature: None,
            version_before: facts.firmware_version.clone(),
            version_after: None,
            error: None,
            created_ms: self.clock.now_ms(),
            finished_ms: None,
        };
        let live = self.enter(record.clone())?;
        let during = self.uarts.during(device, Work::Update, &record.id);
        let task = task::Task {
            updates: self.clone(),
            live,
            pod,
            session: Some(session),
            visit,
            closed,
            during,
            image,
            terms,
        };
        // On a task of its own, so that the visit ends properly even if the caller goes away.
        let begun = tokio::spawn(async move {
            let put = task.updates.store.update_put(task.live.record()).await;
            if put.is_ok() {
                info!(update = task.live.record().id, "update begins");
                task.updates.tell(&task.live.record());
                tokio::spawn(task.go());
            } else {
                task.updates.leave(&task.live.record().device);
            }
            put
        });
        begun.await.map_err(|_| StoreError::Panicked)??;
        Ok(record)
    }

    /// The last update of a device; none if there was none.
    ///
    /// # Errors
    /// The store.
    pub async fn get(&self, device: &str) -> Result<Option<UpdateRecord>, StoreError> {
        if let Some(live) = self.live(device) {
            return Ok(Some(live.record()));
        }
        self.store.update_get(device).await
    }

    /// Whether a device's pod is being updated.
    #[must_use]
    pub fn is_running(&self, device: &str) -> bool {
        self.running().contains_key(device)
    }

    /// Abandon a device's update, and have the pod drop its image. Without an update in progress,
    /// drop what an interrupted one left in the pod.
    ///
    /// # Errors
    /// Nothing is staged, the pod is already installing it, or the pod or the store fails.
    pub async fn abort(
        &self,
        org: &str,
        device: &str,
        shown: Shown<'_>,
    ) -> Result<Option<UpdateRecord>, UpdateError> {
        let Some(live) = self.live(device) else {
            self.abort_left_over(org, device, shown).await?;
            return Ok(self.store.update_get(device).await?);
        };
        if !live.stop(Stop::Asked) {
            return Err(UpdateError::State(
                "the pod is installing the image; that cannot be stopped",
            ));
        }
        match timeout(ABORT_WAIT, live.ended()).await {
            Ok(record) => Ok(Some(record)),
            Err(_) => Ok(Some(live.record())),
        }
    }

    async fn abort_left_over(
        &self,
        org: &str,
        device: &str,
        shown: Shown<'_>,
    ) -> Result<(), UpdateError> {
        let visit = self.leases.visit(device, shown);
        let _visit = visit.map_err(UpdateError::Busy)?;
        let pod = self.devices.pod(org, device).ok_or(UpdateError::Offline)?;
        let offline = |error| match error {
            PodError::Offline { .. } => UpdateError::Offline,
            other => UpdateError::Pod(other),
        };
        let status = pod.ota_status().await.map_err(offline)?;
        if !matches!(status.state.as_str(), "receiving" | "verified") {
            return Err(UpdateError::State("nothing is staged"));
        }
        pod.ota_abort().await.map_err(offline)?;
        info!(device, "dropped an image that an earlier update had left");
        Ok(())
    }

    /// A device is removed, and its update with it.
    pub async fn forget(&self, device: &str) {
        if let Some(live) = self.live(device) {
            live.stop(Stop::Removed);
            // An update that is being installed goes on unobserved.
            let _ = timeout(ABORT_WAIT, live.ended()).await;
        }
        if let Err(error) = self.store.update_delete(device).await {
            warn!(device, %error, "failed to forget the update of a removed device");
        }
    }

    /// Start no more updates, and have the pods drop what they have not begun to install.
    pub async fn stop(&self) {
        self.stopping.store(true, Ordering::Release);
        let gone = async {
            loop {
                let left = self.left.notified();
                let waiting = self
                    .running()
                    .values()
                    .filter(|l| l.stop(Stop::Server))
                    .count();
                if waiting == 0 {
                    return;
                }
                left.await;
            }
        };
        if timeout(STOP_WAIT, gone).await.is_err() {
            warn!("a pod did not drop its image in time");
        }
    }

    fn enter(&self, record: UpdateRecord) -> Result<Arc<Live>, UpdateError> {
        let mut running = self.running();
        if self.stopping.load(Ordering::Acquire) {
            return Err(UpdateError::State("the server is stopping"));
        }
        if running.len() >= RUNNING_MAX {
            return Err(UpdateError::Full);
        }
        let device = record.device.clone();
        let live = Arc::new(Live::new(record));
        // The device was closed for this update, so nobody else's is here.
        running.insert(device, live.clone());
        Ok(live)
    }

    fn leave(&self, device: &str) {
        self.running().remove(device);
        // Kept for a later `stop`, if none is waiting now.
        self.left.notify_one();
    }

    /// Store an update's state. A failure is logged, since nobody waits for it.
    async fn note(&self, record: UpdateRecord) {
        if self.devices.get(&record.org, &record.device).is_none() {
            return;
        }
        let id = record.id.clone();
        if let Err(e) = self.store.update_put(record).await {
            error!(update = id, error = %e, "failed to store the state of an update");
        }
    }

    /// Tell who listens that an update begins, or how it ended.
    fn tell(&self, record: &UpdateRecord) {
        let kind = match record.phase {
            Phase::Done => news::Kind::UpdateDone,
            _ if record.finished_ms.is_none() => news::Kind::UpdateStarted,
            _ => news::Kind::UpdateFailed,
        };
        let told = json!({"update": {
            "id": record.id,
            "phase": record.phase,
            "sha256": record.sha256,
            "version_before": record.version_before,
            "version_after": record.version_after,
            "error": record.error,
            "created_at": clock::text(record.created_ms),
            "finished_at": record.finished_ms.map(clock::text),
        }});
        self.devices.tell(kind, &record.device, &record.id, told);
    }

    fn live(&self, device: &str) -> Option<Arc<Live>> {
        self.running().get(device).cloned()
    }

    fn running(&self) -> MutexGuard<'_, HashMap<String, Arc<Live>>> {
        // Each change is one call, so a panic elsewhere leaves a valid map.
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
