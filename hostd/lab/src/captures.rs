//! Captures: started on a pod, recorded as they arrive, stored as one segment file each, read back
//! in frames and by decoders.
//!
//! The head record lives in the store, the samples in `captures/<id>.la` and `captures/<id>.adc`, and beside each a pyramid
//! ([`decode::pyramid`]), which is made again when it is missing. A capture is stored as pending before its id is returned;
//! its samples are on disk before it is done. The next start marks captures that were unfinished when the process ended as failed.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use admission::{Admission, Limits, OwnedPermit, Requester};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, watch};
use tracing::{error, info};

use crate::decoders::Decoders;
use crate::devices::Devices;
use base::clock::Clock;
use base::config::CapturesConfig;
use base::id;
use base::news::Kind;
use base::space::Space;
use store::captures::looked::{Filter, Order, Place};
use store::captures::{CaptureRecord, Deletion, Listed, Status};
use store::handler_kv::KvError;
use store::{Store, StoreError};

pub mod edges;
pub mod export;
pub(crate) mod feed;
pub mod files;
pub mod follow;
pub(crate) mod framer;
mod hunt;
pub mod import;
mod last;
pub mod layout;
mod level;
mod marks;
pub mod meter;
mod name;
mod news;
pub mod order;
pub mod overview;
pub mod plan;
mod pyramids;
pub mod quota;
pub mod reader;
pub mod recording;
mod recover;
mod seek;
mod spool;
mod start;
mod supply;
mod tally;
mod task;
mod tidy;
pub mod tiles;
pub(crate) mod wire;

use feed::Feeds;
use files::Files;
use import::ImportError;
pub use import::{Import, Imported, Options};
pub use marks::Edit;
pub use name::label;
use plan::PlanError;
use quota::{Ledger, usage_of};
use reader::Reader;
pub use tally::Received;
use tally::Tally;

/// The stored error of a capture that was unfinished when the process ended.
const INTERRUPTED: &str = "hostd was restarted while the capture was in progress";

/// Requests that may wait to send a capture; a handler group has fewer in flight.
const STREAMS_QUEUED_MAX: u32 = 1024;

/// How long they may wait; a handler's deadline is shorter.
const STREAM_WAIT_MAX: Duration = Duration::from_secs(600);

/// How long a look waits for its place.
const LOOK_WAIT_MAX: Duration = Duration::from_secs(60);

/// All captures of all organisations.
#[derive(Debug)]
pub struct Captures {
    files: Files,
    pub(crate) feeds: Feeds,
    config: CapturesConfig,
    store: Store,
    clock: Clock,
    space: Arc<Space>,
    devices: Arc<Devices>,
    ledger: Ledger,
    tally: Tally,
    /// Held while a pyramid is made again: one at a time.
    raising: Arc<tokio::sync::Mutex<()>>,
    /// Held while old captures of an organisation are deleted to make room. A stream that waits for it loses samples, so none
    /// waits for another organisation.
    making_room: Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>,
    /// One permit for each device: a pod takes one capture at a time.
    lanes: Mutex<HashMap<String, Arc<Semaphore>>>,
    running: Mutex<HashMap<String, Running>>,
    /// Final records that the store has not accepted; the samples are on disk.
    unstored: Mutex<HashMap<String, CaptureRecord>>,
    stopping: AtomicBool,
    /// Notified when a capture has left `running`.
    left: Notify,
    readers: Arc<Semaphore>,
    /// Separate from the readers, since a stream is as slow as its client.
    streams: Arc<Admission>,
    /// Separate from the streams, since what is imported is on this disk already.
    imports: Arc<Admission>,
    /// Separate again: a look takes a part of a second.
    looks: Arc<Admission>,
    decoders: Arc<Decoders>,
}

/// A capture that has not finished.
#[derive(Debug)]
struct Running {
    device: String,
    /// It selects a level for the logic analyzer's input bank.
    selects_level: bool,
    cancel: watch::Sender<bool>,
    /// The pod was asked for the samples.
    begun: watch::Sender<bool>,
}

/// Why a capture cannot be started, read or changed.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    #[error("there is no such capture")]
    NotFound,
    #[error("there is no such device")]
    NoDevice,
    #[error("the device is offline")]
    Offline,
    #[error("{waiting} captures wait for this device already")]
    Busy { waiting: usize },
    #[error("{0}")]
    InUse(String),
    #[error("import the recording")]
    Import(#[source] ImportError),
    #[error(transparent)]
    Plan(#[from] PlanError),
    #[error("{what}: {max} at most")]
    Full { what: &'static str, max: u64 },
    /// A member of the order that the device's present state rules out.
    #[error("{field}: {message}")]
    Unready {
        field: &'static str,
        message: String,
    },
    #[error("{0}")]
    State(&'static str),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("read what the device is wired to")]
    Wiring(#[from] KvError),
    #[error("read the capture's samples")]
    Samples(#[from] reader::ReadError),
    #[error("keep the capture's samples")]
    Files(#[source] std::io::Error),
}

impl Captures {
    /// Open the folder and finish what an earlier process left behind: as done if all samples are
    /// on disk, otherwise as failed.
    ///
    /// # Errors
    /// The folder cannot be made, or the store fails.
    pub async fn open(
        data_dir: &Path,
        config: &CapturesConfig,
        store: Store,
        clock: Clock,
        space: Arc<Space>,
        devices: Arc<Devices>,
    ) -> Result<Arc<Self>, CaptureError> {
        let files = Files::open(data_dir.join(base::folder::CAPTURES), space.clone());
        let files = files.map_err(CaptureError::Files)?;
        let captures = Self {
            files,
            feeds: Feeds::default(),
            config: config.clone(),
            store,
            clock,
            space,
            devices,
            ledger: Ledger::default(),
            tally: Tally::default(),
            raising: Arc::default(),
            making_room: Mutex::default(),
            lanes: Mutex::default(),
            running: Mutex::default(),
            unstored: Mutex::default(),
            stopping: AtomicBool::new(false),
            left: Notify::new(),
            readers: Arc::new(Semaphore::new(config.read_max as usize)),
            streams: Arc::new(Admission::new(stream_limits(config.read_max))),
            imports: Arc::new(Admission::new(stream_limits(config.read_max))),
            looks: Arc::new(Admission::new(LOOKS)),
            decoders: Arc::default(),
        };
        captures.end_unfinished().await?;
        captures.count().await?;
        let captures = Arc::new(captures);
        tokio::spawn(tidy::keep(Arc::downgrade(&captures)));
        Ok(captures)
    }

    /// What decodes them.
    #[must_use]
    pub fn decoders(&self) -> &Arc<Decoders> {
        &self.decoders
    }

    async fn end_unfinished(&self) -> Result<(), CaptureError> {
        for mut record in self.store.captures_unfinished().await? {
            let now_ms = self.clock.now_ms();
            if let Some(done) = recover::recover(&self.files, &record, now_ms) {
                info!(capture = done.id, "done: its samples were on disk");
                self.note(&done).await;
                continue;
            }
            record.status = Status::Failed;
            record.error = Some(INTERRUPTED.into());
            record.finished_ms = Some(now_ms);
            info!(
                capture = record.id,
                "failed: it was unfinished at the last stop"
            );
            self.files.remove(&record.id);
            self.note(&record).await;
        }
        Ok(())
    }

    /// One capture of an organisation.
    ///
    /// # Errors
    /// It does not exist there, or the store fails.
    pub async fn get(&self, org: &str, id: &str) -> Result<CaptureRecord, CaptureError> {
        if !id::is_ulid(id) {
            return Err(CaptureError::NotFound);
        }
        let record = self.store.capture_get(id).await?;
        let unstored = self.unstored().get(id).cloned();
        let record = record.map(|record| unstored.unwrap_or(record));
        record
            .filter(|r| r.org == org)
            .ok_or(CaptureError::NotFound)
    }

    /// Newest first, at most `limit`, older than the capture `before`.
    ///
    /// # Errors
    /// The store.
    pub async fn list(
        &self,
        of: Listed<'_>,
        before: Option<&str>,
        limit: usize,
    ) -> Result<Vec<CaptureRecord>, CaptureError> {
        let found = self.store.captures_list(of, before, limit).await?;
        Ok(self.as_they_are(found))
    }

    /// Captures of an organisation that fit a filter, in an order, behind the last one of the page before. All that is kept may
    /// be looked at, so it is done in a place, of which no organisation and no user has all.
    ///
    /// # Errors
    /// Too many wait for a place; the store.
    pub async fn looked_for(
        &self,
        org: &str,
        (filter, order): (Filter, Order),
        behind: Option<Place>,
        limit: usize,
        requester: Option<&Requester>,
    ) -> Result<Vec<CaptureRecord>, CaptureError> {
        let place = self.looks.enter_owned(requester).await;
        let place = place.map_err(|_| {
            CaptureError::State("too many look through captures; retry later, or ask for less")
        })?;
        let found = self
            .store
            .captures_looked_for(org, filter, order, behind, limit, place);
        Ok(self.as_they_are(found.await?))
    }

    /// What a job recorded, oldest first, at most [`OF_JOB_MAX`](store::captures::OF_JOB_MAX).
    ///
    /// # Errors
    /// The store.
    pub async fn of_job(&self, org: &str, job: &str) -> Result<Vec<CaptureRecord>, CaptureError> {
        let found = self.store.captures_of_job(org, job).await?;
        Ok(self.as_they_are(found))
    }

    /// Records as the store would have them if it had accepted all.
    fn as_they_are(&self, stored: Vec<CaptureRecord>) -> Vec<CaptureRecord> {
        let unstored = self.unstored();
        let known = |record: CaptureRecord| unstored.get(&record.id).cloned().unwrap_or(record);
        stored.into_iter().map(known).collect()
    }

    /// Ask an unfinished capture to stop; its record follows at once.
    ///
    /// # Errors
    /// It does not exist or has finished.
    pub async fn cancel(&self, org: &str, id: &str) -> Result<CaptureRecord, CaptureError> {
        let mut record = self.get(org, id).await?;
        let asked = match self.running().get(id) {
            Some(running) => running.cancel.send_replace(true),
            None => return Err(CaptureError::State("the capture has finished")),
        };
        if !asked {
            info!(capture = id, "cancelling");
        }
        record.status = Status::Cancelled;
        Ok(record)
    }

    /// Wait until the pod was asked for the samples of a capture, or the capture has finished.
    pub async fn begun(&self, id: &str) {
        let begun = self.running().get(id).map(|r| r.begun.subscribe());
        if let Some(mut begun) = begun {
            // The sender goes when the capture has finished.
            let _ = begun.wait_for(|begun| *begun).await;
        }
    }

    /// Wait until a capture has finished, and return its last record.
    ///
    /// # Errors
    /// It does not exist, or the store fails.
    pub async fn finished(&self, org: &str, id: &str) -> Result<CaptureRecord, CaptureError> {
        self.get(org, id).await?;
        let begun = self.running().get(id).map(|r| r.begun.subscribe());
        if let Some(mut begun) = begun {
            // As above.
            while begun.changed().await.is_ok() {}
        }
        self.get(org, id).await
    }

    /// The device's running capture, or else the next one: they run in order.
    #[must_use]
    pub fn current(&self, device: &str) -> Option<String> {
        let running = self.running();
        let of_device = running.iter().filter(|(_, r)| r.device == device);
        of_device.map(|(id, _)| id).min().cloned()
    }

    /// Ask a capture to stop if it has not finished.
    fn stop_one(&self, id: &str) {
        if let Some(running) = self.running().get(id) {
            running.cancel.send_replace(true);
        }
    }

    /// Delete a capture and its samples.
    ///
    /// # Errors
    /// It does not exist or is pinned, or the store fails.
    pub async fn delete(self: &Arc<Self>, org: &str, id: &str) -> Result<(), CaptureError> {
        self.get(org, id).await?;
        match self.forget(id).await? {
            true => Ok(()),
            false => Err(CaptureError::State(
                "the capture is pinned; change `pinned` to false before you delete it",
            )),
        }
    }

    /// Delete a capture, unless it is pinned; whether there is none now. It goes on when the caller leaves: the files of what is
    /// no longer stored would take room until the next start.
    async fn forget(self: &Arc<Self>, id: &str) -> Result<bool, CaptureError> {
        let (captures, id) = (Arc::clone(self), id.to_owned());
        let gone = tokio::spawn(async move { captures.forget_here(&id).await }).await;
        let gone = gone.map_err(|_| CaptureError::State("the capture could not be deleted"))?;
        Ok(gone?)
    }

    async fn forget_here(&self, id: &str) -> Result<bool, StoreError> {
        let stored = match self.store.capture_delete(id).await? {
            Deletion::Missing => return Ok(true),
            Deletion::Pinned => return Ok(false),
            Deletion::Done(stored) => *stored,
        };
        let last = self.unstored().remove(id).unwrap_or(stored);
        self.stop_one(id);
        let freed = usage_of(&self.files, &last);
        self.files.remove(id);
        self.ledger.give_back(&last.org, freed);
        self.tell(Kind::CaptureDeleted, &last);
        Ok(true)
    }

    /// Open a finished capture's samples.
    ///
    /// # Errors
    /// It does not exist, is not done, or its file is damaged.
    pub async fn read(&self, org: &str, id: &str) -> Result<Arc<Reader>, CaptureError> {
        let record = self.get(org, id).await?;
        if record.status != Status::Done {
            return Err(CaptureError::State("the capture is not done"));
        }
        let files = self.files.clone();
        let reader = tokio::task::spawn_blocking(move || Reader::open(&files, record))
            .await
            .map_err(|_| CaptureError::State("the capture could not be read"))??;
        Ok(Arc::new(reader))
    }

    /// A permit to read or decode a bounded part; the number of concurrent readers is limited.
    pub async fn reader_permit(&self) -> OwnedSemaphorePermit {
        permit(&self.readers).await
    }

    /// A permit to send all of a capture to a client; the number of concurrent streams is limited. No user gets all permits.
    /// Waits as long as the caller does.
    ///
    /// # Errors
    /// Too many wait.
    pub async fn stream_permit(
        &self,
        requester: Option<&Requester>,
    ) -> Result<OwnedPermit, CaptureError> {
        let permit = self.streams.enter_owned(requester).await;
        permit.map_err(|_| CaptureError::State("too many captures are being sent; retry later"))
    }

    /// The same for imports.
    pub(crate) async fn import_permit(
        &self,
        requester: Option<&Requester>,
    ) -> Result<OwnedPermit, CaptureError> {
        let permit = self.imports.enter_owned(requester).await;
        permit.map_err(|_| CaptureError::State("too many captures are being imported; retry later"))
    }

    /// Accept no more captures, cancel the running ones, and wait until the records say so.
    pub async fn stop(&self) {
        self.stopping.store(true, Ordering::Release);
        loop {
            let left = self.left.notified();
            {
                let running = self.running();
                if running.is_empty() {
                    return;
                }
                for running in running.values() {
                    running.cancel.send_replace(true);
                }
            }
            left.await;
        }
    }

    fn leave(&self, id: &str) {
        self.running().remove(id);
        // Kept for a later `stop`, if none is waiting now.
        self.left.notify_one();
    }

    fn running(&self) -> std::sync::MutexGuard<'_, HashMap<String, Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Write a head record unless it was deleted meanwhile; true if it still exists. A failure is
    /// logged, since nobody waits for it.
    async fn note(&self, record: &CaptureRecord) -> bool {
        match self.store.capture_update(record.clone()).await {
            Ok(there) => there,
            Err(e) => {
                error!(capture = record.id, error = %e, "failed to store the state of a capture");
                true
            }
        }
    }
}

/// Looks through all captures of an organisation at once; of them one organisation's, and one user's. A handler's deadline may be
/// shorter than the longest wait.
const LOOKS: Limits = Limits {
    permits_max: 4,
    per_user_max: 2,
    per_org_max: 3,
    queued_max: STREAMS_QUEUED_MAX,
    wait_max: LOOK_WAIT_MAX,
};

const _: () =
    assert!(LOOKS.per_user_max < LOOKS.per_org_max && LOOKS.per_org_max < LOOKS.permits_max);

/// Half of all permits for a user, all but one for an organisation.
fn stream_limits(permits_max: u32) -> Limits {
    Limits {
        permits_max,
        per_user_max: permits_max.div_ceil(2),
        per_org_max: (permits_max - 1).max(1),
        queued_max: STREAMS_QUEUED_MAX,
        wait_max: STREAM_WAIT_MAX,
    }
}

async fn permit(permits: &Arc<Semaphore>) -> OwnedSemaphorePermit {
    let permits = permits.clone();
    permits
        .acquire_owned()
        .await
        .expect("the semaphore is never closed")
}
