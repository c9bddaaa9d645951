//! The service as a whole: opening, starting, stopping.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use admission::{Admission, Limits};
use base::clock::Clock;
use base::config::EmiConfig;
use blobs::Blobs;
use store::Store;
use store::emi::runs::{Kind, Queue};
use tokio::sync::Mutex;
use tokio::task::JoinSet;
use tracing::warn;

use crate::attended::Attended;
use crate::error::Error;
use crate::link::Signer;
use crate::meter::Meter;
use crate::runner::Runner;
use crate::tidy;

/// How long a place is waited for: until there is one.
const PLACE_WAIT: Duration = Duration::from_secs(365 * 24 * 3600);

/// How long a stopping server waits for runs to end.
const STOP_WAIT: Duration = Duration::from_secs(5);

/// However long bytes may take, an address is refused that expired so many seconds ago: a day.
const ARRIVAL_S_MAX: u64 = 24 * 3600;

/// What it works with.
#[derive(Debug)]
pub struct Parts {
    /// Records.
    pub store: Store,
    /// Time.
    pub clock: Clock,
    /// Files.
    pub blobs: Arc<Blobs>,
    /// What computes.
    pub runner: Arc<dyn Runner>,
    /// How long it may take from when bytes are admitted until they are to be kept.
    pub arrival_max: Duration,
}

/// Boards of all organisations, and what is found in them.
#[derive(Debug)]
pub struct Analysis {
    pub(crate) config: EmiConfig,
    pub(crate) store: Store,
    pub(crate) clock: Clock,
    pub(crate) blobs: Arc<Blobs>,
    pub(crate) runner: Arc<dyn Runner>,
    /// How long bytes may take that were admitted, in seconds.
    pub(crate) arrival_s: u64,
    pub(crate) signer: Signer,
    pub(crate) meter: Meter,
    pub(crate) places: Arc<Admission>,
    pub(crate) attended: Arc<Attended>,
    /// Held while runs are made to wait and get their tasks, and while a run is stopped with its task.
    pub(crate) tasks: Mutex<JoinSet<()>>,
    /// Whether runs get tasks.
    pub(crate) has_settled: AtomicBool,
    /// Nothing begins any more.
    pub(crate) is_stopping: AtomicBool,
}

impl Analysis {
    /// Open it. Nothing runs before [`settle_in`](Self::settle_in).
    ///
    /// # Errors
    /// The store failed.
    pub async fn open(config: &EmiConfig, parts: Parts) -> Result<Arc<Self>, Error> {
        let signer = Signer::open(&parts.store, parts.clock.clone()).await?;
        // Everybody who is in the store's queue must find a place in this one, also by the rule that leaves half of the
        // rest to others.
        let queued_max = config
            .queued_max
            .saturating_mul(2)
            .saturating_add(config.running_max);
        let places = Admission::new(Limits {
            permits_max: config.running_max,
            per_user_max: config.running_max,
            per_org_max: config.running_max,
            queued_max: queued_max.saturating_mul(2),
            wait_max: PLACE_WAIT,
        });
        let analysis = Self {
            config: config.clone(),
            store: parts.store,
            clock: parts.clock,
            blobs: parts.blobs,
            runner: parts.runner,
            arrival_s: parts.arrival_max.as_secs().min(ARRIVAL_S_MAX),
            signer,
            meter: Meter::default(),
            places: Arc::new(places),
            attended: Arc::default(),
            tasks: Mutex::default(),
            has_settled: AtomicBool::new(false),
            is_stopping: AtomicBool::new(false),
        };
        Ok(Arc::new(analysis))
    }

    /// Begin: what waits, and what a restart caught, runs; what is too old is deleted soon, and from then on.
    ///
    /// # Errors
    /// The store failed.
    pub async fn settle_in(self: &Arc<Self>) -> Result<(), Error> {
        self.recover().await?;
        tokio::spawn(tidy::keep(Arc::downgrade(self)));
        Ok(())
    }

    /// Stop what runs; it runs again after the next start. Waits a moment for that to be stored.
    pub async fn stop(&self) {
        self.is_stopping.store(true, Ordering::SeqCst);
        self.attended.stop_all();
        let mut tasks = std::mem::take(&mut *self.tasks.lock().await);
        let all = async { while tasks.join_next().await.is_some() {} };
        if tokio::time::timeout(STOP_WAIT, all).await.is_err() {
            warn!("runs of analyses did not end in time; they run again after the next start");
        }
    }

    /// The kinds of runs that are offered.
    #[must_use]
    pub fn features(&self) -> Vec<Kind> {
        self.runner.kinds()
    }

    /// Most bytes of one upload.
    #[must_use]
    pub fn upload_bytes_max(&self) -> u64 {
        u64::from(self.config.upload_mib_max) << 20
    }

    pub(crate) fn quota_bytes(&self) -> u64 {
        u64::from(self.config.quota_mib) << 20
    }

    pub(crate) fn queue(&self) -> Queue {
        Queue {
            runs_max: self.config.runs_max.into(),
            waiting_per_org_max: self.config.queued_per_org_max.into(),
            waiting_max: self.config.queued_max.into(),
        }
    }

    pub(crate) fn check_running(&self) -> Result<(), Error> {
        match self.is_stopping.load(Ordering::SeqCst) {
            true => Err(Error::Stopping),
            false => Ok(()),
        }
    }

    /// Counts what is refused.
    pub(crate) fn counted<T>(&self, result: Result<T, Error>) -> Result<T, Error> {
        if let Some(reason) = result.as_ref().err().and_then(Error::reason) {
            self.meter.refused(reason);
        }
        result
    }
}
