//! The jobs of all organisations, as the rest of the server sees them.

mod look;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use archive::Limits as ArchiveLimits;
use base::clock::Clock;
use base::config::JobsConfig;
use base::id;
use base::private;
use base::space::Space;
use jobs::Runner;
use lab::blobs::Blobs;
use lab::devices::Devices;
use lab::leases::Leases;
use pipeline::Caps;
use scheduler::Limits;
use store::jobs::Job;
use store::{Store, StoreError};
use tokio::sync::Semaphore;
use tracing::{info, warn};

use crate::attempt::Tools;
use crate::bench::Benches;
use crate::board::Board;
use crate::driver::{Driver, Event, Events};
use crate::error::{JobError, OpenError};
use crate::files::Files;
use crate::intake::{Intake, NewJob, Source};
use crate::isolation::Isolation;
use crate::restore;
use crate::tidy::{self, Tidy};
pub use look::Filter;

/// Jobs that are taken in at once: each borrows a blocking thread to unpack. Others wait.
const INTAKES_MAX: usize = 2;

/// Logs and pages that are opened at once.
const READS_MAX: usize = 4;

/// What the service is made of.
pub struct Parts {
    /// Where jobs are stored.
    pub store: Store,
    /// What time it is.
    pub clock: Clock,
    /// The disk.
    pub space: Arc<Space>,
    /// The devices.
    pub devices: Arc<Devices>,
    /// Who has them.
    pub leases: Arc<Leases>,
    /// Where files are kept.
    pub blobs: Arc<Blobs>,
    /// How steps drive devices.
    pub benches: Arc<dyn Benches>,
}

/// Who submits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submitter {
    /// Their organisation.
    pub org: String,
    /// Their id.
    pub user: String,
}

/// A job that was submitted.
#[derive(Debug, Clone)]
pub struct Submitted {
    /// As it is.
    pub job: Arc<Job>,
    /// An earlier request with the same key made it.
    pub is_replay: bool,
}

/// All jobs.
pub struct Jobs {
    intake: Intake,
    files: Files,
    store: Store,
    clock: Clock,
    blobs: Arc<Blobs>,
    board: Arc<Board>,
    events: Events,
    intakes: Semaphore,
    reads: Semaphore,
    isolation: Arc<Isolation>,
    drain_wait: Duration,
    _tidy: Arc<Tidy>,
}

impl std::fmt::Debug for Jobs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Jobs")
            .field("files", &self.files)
            .finish_non_exhaustive()
    }
}

impl Jobs {
    /// Goes on with the jobs that were unfinished when the server ended, and takes new ones.
    ///
    /// # Errors
    /// A folder cannot be used, what makes jails does not start, or the store fails.
    pub async fn open(
        data: &Path,
        config: &JobsConfig,
        parts: Parts,
    ) -> Result<Arc<Self>, OpenError> {
        let files = Files::new(data).map_err(|error| OpenError::Folder(data.to_owned(), error))?;
        for folder in [files.root(), files.work()] {
            private::make_folder(folder)
                .map_err(|error| OpenError::Folder(folder.to_owned(), error))?;
        }
        let options = runner_options(&files, config);
        let isolation = Isolation::look(options.jail.clone());
        let opened = tokio::task::spawn_blocking(move || Runner::open(options));
        let runner = opened.await.map_err(|_| StoreError::Panicked)??;
        let intake = Intake {
            files: files.clone(),
            caps: Caps::default(),
            limits: archive_limits(config),
            blobs: parts.blobs.clone(),
            space: parts.space.clone(),
        };
        let tidy = Arc::new(Tidy {
            files: files.clone(),
            store: parts.store.clone(),
            clock: parts.clock.clone(),
            keep_ms: u64::from(config.keep_days) * 24 * 3_600_000,
        });
        tidy.sweep().await?;
        tidy.forget_old().await?;
        tokio::spawn(tidy::keep(Arc::downgrade(&tidy)));
        let board = Arc::<Board>::default();
        let (events, inbox) = Events::new();
        let now_ms = parts.clock.now_ms();
        let restored =
            restore::restore(&parts.store, &intake, limits(config), &board, now_ms).await?;
        restore::release(&parts.leases, restored.leases);
        let driver = Driver {
            scheduler: restored.scheduler,
            entries: restored.entries,
            running: std::collections::HashMap::new(),
            known: std::collections::HashSet::new(),
            refused: std::collections::HashMap::new(),
            tools: Arc::new(Tools {
                runner,
                files: files.clone(),
                blobs: parts.blobs.clone(),
                leases: parts.leases,
                benches: parts.benches,
            }),
            store: parts.store.clone(),
            clock: parts.clock.clone(),
            devices: parts.devices,
            board: board.clone(),
            events: events.clone(),
            drained: Vec::new(),
        };
        tokio::spawn(driver.run(inbox, restored.decisions));
        Ok(Arc::new(Self {
            intake,
            files,
            store: parts.store,
            clock: parts.clock,
            blobs: parts.blobs,
            board,
            events,
            intakes: Semaphore::new(INTAKES_MAX),
            reads: Semaphore::new(READS_MAX),
            isolation,
            drain_wait: Duration::from_millis(config.drain_ms),
            _tidy: tidy,
        }))
    }

    /// Bytes that the archive of a job may have.
    #[must_use]
    pub fn archive_bytes_max(&self) -> u64 {
        self.intake.limits.packed_bytes_max
    }

    /// The JSON Schema of pipelines.
    #[must_use]
    pub fn schema() -> String {
        pipeline::schema().to_string()
    }

    /// Queues a job.
    ///
    /// # Errors
    /// It is refused, or something of the server fails; nothing is left of it then.
    pub async fn submit(&self, by: Submitter, new: NewJob) -> Result<Submitted, JobError> {
        if let Some(lack) = self.isolation.lack().await {
            return Err(JobError::NoIsolation(lack));
        }
        // Never closed.
        let permit = self
            .intakes
            .acquire()
            .await
            .map_err(|_| JobError::Stopping)?;
        let id = id::ulid(&self.clock);
        let (intake, of, now_ms) = (self.intake.clone(), id.clone(), self.clock.now_ms());
        let taken = tokio::task::spawn_blocking(move || intake.take(&by, new, &of, now_ms)).await;
        drop(permit);
        let order = taken.map_err(|_| StoreError::Panicked)??;
        let queued = self
            .events
            .ask(|answer| Event::Submit(Box::new(order), answer))
            .await
            .flatten();
        if !matches!(&queued, Ok((job, false)) if job.id == id) {
            self.discard(id);
        }
        let (job, is_replay) = queued?;
        Ok(Submitted { job, is_replay })
    }

    /// Removes the folder of a job that was not queued.
    fn discard(&self, id: String) {
        let files = self.files.clone();
        tokio::task::spawn_blocking(move || {
            if let Err(error) = files.remove(&id) {
                warn!(job = id, %error, "failed to remove what a refused job has left");
            }
        });
    }

    /// Ends a job.
    ///
    /// # Errors
    /// There is none of this id, it has ended, or the storage failed.
    pub async fn cancel(&self, org: &str, id: &str) -> Result<Arc<Job>, JobError> {
        self.get(org, id).await?;
        let (org, id) = (org.to_owned(), id.to_owned());
        self.events
            .ask(|answer| Event::Cancel(org, id, answer))
            .await
            .flatten()
    }

    /// Queues once more what a finished job was made of.
    ///
    /// # Errors
    /// There is none of this id, it has not ended, or what [`submit`](Self::submit) says.
    pub async fn retry(&self, by: Submitter, id: &str) -> Result<Submitted, JobError> {
        let job = self.get(&by.org, id).await?;
        if job.queue.is_some() {
            return Err(JobError::Unfinished);
        }
        let new = NewJob {
            name: job.name.clone(),
            r#ref: job.r#ref.clone(),
            commit: job.commit.clone(),
            idempotency_key: None,
            source: Source::Again(Box::new(Job::clone(&job))),
        };
        self.submit(by, new).await
    }

    /// Whether no job gets this device until a person re-admits it.
    #[must_use]
    pub fn is_quarantined(&self, device: &str) -> bool {
        self.board.quarantine_of(device).is_some()
    }

    /// A person trusts a device again, that jobs were kept from. Whether there was a quarantine.
    ///
    /// # Errors
    /// The storage failed, or the server stops.
    pub async fn readmit(&self, device: &str) -> Result<bool, JobError> {
        let device = device.to_owned();
        self.events
            .ask(|answer| Event::Readmit(device, answer))
            .await
            .flatten()
    }

    /// Starts nothing any more, and waits a while for what runs. What does not end in time is repeated after the
    /// restart, if its test has not said anything.
    pub async fn drain(&self) {
        let drained = self.events.ask(Event::Drain);
        match tokio::time::timeout(self.drain_wait, drained).await {
            Ok(_) => info!("no job runs any more"),
            Err(_) => warn!("jobs that still run are cut off"),
        }
    }
}

fn runner_options(files: &Files, config: &JobsConfig) -> jobs::Options {
    let mut options = jobs::Options::new(files.work());
    options.cache_bytes = u64::from(config.cache_mib) << 20;
    options.tools = config.tools().map(jail::Bind::same).collect();
    options
}

fn archive_limits(config: &JobsConfig) -> ArchiveLimits {
    ArchiveLimits {
        packed_bytes_max: u64::from(config.archive_mib_max) << 20,
        unpacked_bytes_max: u64::from(config.unpacked_mib_max) << 20,
        entries_max: config.archive_entries_max as usize,
        ..ArchiveLimits::default()
    }
}

fn limits(config: &JobsConfig) -> Limits {
    Limits {
        queued_max: config.queued_max as usize,
        queued_per_org_max: config.queued_per_org_max as usize,
        queued_per_user_max: config.queued_per_user_max as usize,
        running_max: config.running_max,
        running_per_org_max: config.running_per_org_max,
        running_per_user_max: config.running_per_user_max,
        build_slots: config.build_slots,
        ..Limits::default()
    }
}
