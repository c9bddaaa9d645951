//! The jobs of all organisations, as the rest of the server sees them.

mod look;
mod setup;
mod trusted;

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use base::clock::Clock;
use base::config::JobsConfig;
use base::id;
use base::private;
use base::space::Space;
use jobs::Runner;
use lab::blobs::Blobs;
use lab::devices::Devices;
use lab::leases::Leases;
use scheduler::Before;
use store::commit_statuses::Audience;
use store::jobs::Job;
use store::{Store, StoreError};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tracing::{info, warn};
use vault::Vault;

use crate::attempt::Tools;
use crate::behind;
use crate::bench::Benches;
use crate::board::Board;
use crate::driver::{Driver, Event, Events, Refused, Waits};
use crate::error::{JobError, OpenError};
use crate::files::Files;
use crate::intake::{Intake, NewJob, Source};
use crate::isolation::Isolation;
use crate::meter::Figures;
use crate::quota::Ledger;
use crate::restore;
use crate::tidy::{self, Tidy};
use crate::turns::Turns;
pub use look::Filter;
use setup::{count, intake, limits, runner_options, tools};

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
    /// What steps get that is nobody's to see.
    pub vault: Arc<Vault>,
    /// Woken when a notice was stored that others are to be told of.
    pub noticed: Arc<Notify>,
    /// Whose commits repositories mark.
    pub repositories: Arc<[Audience]>,
    /// How others reach the server, without a path. Empty: nobody knows.
    pub public_url: String,
}

/// What takes its time to start, begun early.
#[derive(Debug)]
pub struct Begun {
    config: JobsConfig,
    files: Files,
    isolation: Arc<Isolation>,
    runner: JoinHandle<Result<Runner, jobs::OpenError>>,
}

/// Who submits, or reads.
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
    pub(crate) intake: Intake,
    pub(crate) files: Files,
    public_url: String,
    pub(crate) store: Store,
    pub(crate) clock: Clock,
    blobs: Arc<Blobs>,
    board: Arc<Board>,
    pub(crate) events: Events,
    pub(crate) turns: Arc<Turns>,
    tools: Arc<Tools>,
    pub(crate) isolation: Arc<Isolation>,
    drain_wait: Duration,
    /// Jobs that could not be read at the start.
    unreadable: u64,
    tidy: Arc<Tidy>,
}

impl std::fmt::Debug for Jobs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Jobs")
            .field("files", &self.files)
            .finish_non_exhaustive()
    }
}

impl Jobs {
    /// Begins to start what makes jails. Nobody else may use the data folder any more.
    ///
    /// # Errors
    /// A folder cannot be used.
    pub fn begin(data: &Path, config: &JobsConfig) -> Result<Begun, OpenError> {
        let files = Files::new(data).map_err(|error| OpenError::Folder(data.to_owned(), error))?;
        for folder in [files.root(), files.work()] {
            private::make_folder(folder)
                .map_err(|error| OpenError::Folder(folder.to_owned(), error))?;
        }
        let options = runner_options(&files, config);
        Ok(Begun {
            config: config.clone(),
            isolation: Arc::new(Isolation::new(options.jail.clone())),
            files,
            runner: tokio::task::spawn_blocking(move || Runner::open(options)),
        })
    }

    /// Goes on with the jobs that were unfinished when the server ended, and takes new ones.
    ///
    /// # Errors
    /// What makes jails does not start, or the store fails.
    pub async fn open(begun: Begun, parts: Parts) -> Result<Arc<Self>, OpenError> {
        let Begun {
            config,
            files,
            isolation,
            runner,
        } = begun;
        let intake = intake(&files, &config, &parts);
        let overview = parts.store.jobs_overview().await?;
        let ledger = Arc::new(Ledger::new(config.org_gib_max));
        let strays = tidy::strays(&files, &overview).await?;
        let board = Arc::<Board>::default();
        let (events, inbox) = Events::new();
        let before = before(&parts.store).await?;
        let restored = restore::restore(
            &parts.store,
            &intake,
            overview.open,
            (limits(&config), before),
            (&board, &ledger, &parts.repositories),
            &parts.clock,
        );
        let restored = restored.await?;
        count(&ledger, &overview.heads, &restored.unreadable);
        restore::release(&parts.leases);
        let mut runner = runner.await.map_err(|_| StoreError::Panicked)??;
        // What jobs leave free is what captures and uploads do.
        runner.leave_free(parts.space.look().floor_bytes);
        let memory = intake.memory.clone();
        let tools = Arc::new(tools(runner, &files, &config, &parts, (ledger, memory)));
        let unreadable = restored.unreadable.len() as u64;
        let decisions = restored.decisions;
        let driver = Driver {
            scheduler: restored.scheduler,
            entries: restored.entries,
            running: HashMap::new(),
            known: HashSet::new(),
            refused: Refused::default(),
            waits: Waits::default(),
            tools: tools.clone(),
            store: parts.store.clone(),
            clock: parts.clock.clone(),
            devices: parts.devices,
            board: board.clone(),
            events: events.clone(),
            drained: Vec::new(),
            noticed: parts.noticed,
            repositories: parts.repositories,
        };
        tokio::spawn(driver.run(inbox, decisions));
        let (store, clock) = (parts.store.clone(), parts.clock.clone());
        let tidy = Tidy::new(tools.clone(), store, clock, config.keep_days, strays);
        let tidy = Arc::new(tidy);
        Ok(Arc::new(Self {
            intake,
            files,
            public_url: parts.public_url.trim_end_matches('/').to_owned(),
            store: parts.store,
            clock: parts.clock,
            blobs: parts.blobs,
            board,
            events,
            turns: Arc::new(Turns::new()),
            tools,
            isolation,
            drain_wait: Duration::from_millis(config.drain_ms),
            unreadable,
            tidy,
        }))
    }

    /// Requests are answered from now on: what could wait until then is done.
    pub fn settle_in(&self) {
        self.isolation.clone().look();
        sweep_places(self.tools.clone());
        tokio::spawn(note_running(self.store.clone(), true));
        tokio::spawn(tidy::keep(Arc::downgrade(&self.tidy)));
    }

    /// What there is, and what there was since the start.
    #[must_use]
    pub fn figures(&self) -> Figures {
        let unfinished = self.board.unfinished();
        let counted = self
            .tools
            .meter
            .figures(unfinished.iter().map(|job| &**job));
        Figures {
            quarantined: self.board.quarantined(),
            unreadable: self.unreadable,
            stored_bytes: self.tools.ledger.total(),
            memory_bytes: self.intake.memory.held(),
            ..counted
        }
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
        let submitted = self.take(by, new).await;
        submitted.inspect_err(|error| self.tools.meter.refused(error))
    }

    async fn take(&self, by: Submitter, new: NewJob) -> Result<Submitted, JobError> {
        if let Some(lack) = self.isolation.lack().await {
            return Err(JobError::NoIsolation(lack));
        }
        let place = self.turns.intake(&by).await?;
        let id = id::ulid(&self.clock);
        let (intake, of, now_ms) = (self.intake.clone(), id.clone(), self.clock.now_ms());
        let is_small = new.is_small();
        let take = move || {
            let _place = place;
            intake.take(&by, new, &of, now_ms)
        };
        let taken = match is_small {
            true => tokio::task::spawn_blocking(take).await.ok(),
            false => behind::run(take).await,
        };
        let arrival = taken.ok_or(StoreError::Panicked)??;
        let queued = self
            .events
            .ask(|answer| Event::Submit(Box::new(arrival), answer))
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
        note_running(self.store.clone(), false).await;
    }
}

/// Notes whether the server ends in good order if it ends now: the next start asks for that.
async fn note_running(store: Store, is_running: bool) {
    if let Err(error) = store.jobs_running(is_running).await {
        warn!(%error, "failed to note whether jobs may be running");
    }
}

/// Removes the folders of attempts that died with the server. Attempts that begin meanwhile take other places.
/// How the server ended the last time.
async fn before(store: &Store) -> Result<Before, StoreError> {
    Ok(match store.read(store::jobs::was_running).await? {
        true => Before::Died,
        false => Before::Stopped,
    })
}

fn sweep_places(tools: Arc<Tools>) {
    tokio::task::spawn_blocking(move || {
        if let Err(error) = tools.runner.sweep() {
            warn!(%error, "failed to remove what jobs left when the server ended");
        }
    });
}
