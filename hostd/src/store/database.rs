//! The open redb file: opening, opening again after a failed disk, closing.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use redb::{Builder, DatabaseError, ReadableDatabase};
use tracing::{info, warn};

use super::compaction;
use super::error::StoreError;
use super::schema;
use super::snapshot::Snapshot;

/// The file holds the server's private keys: for its owner alone.
const FILE_MODE: u32 = 0o600;

/// Page cache of stores that live in memory, in bytes.
const MEMORY_CACHE_BYTES: usize = 4 << 20;

/// Opens the database; called again after the storage has failed.
pub(super) type Opener = Box<dyn Fn() -> Result<redb::Database, StoreError> + Send + Sync>;

enum State {
    Open(redb::Database),
    /// The storage failed; the next write tries to open it again.
    Failed(StoreError),
    Closed,
}

pub(super) struct Database {
    state: RwLock<State>,
    opener: Opener,
}

impl std::fmt::Debug for Database {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Database")
    }
}

impl Database {
    pub(super) fn open(opener: Opener) -> Result<Self, StoreError> {
        let database = opener()?;
        schema::migrate(&database)?;
        Ok(Self {
            state: RwLock::new(State::Open(database)),
            opener,
        })
    }

    fn state(&self) -> RwLockReadGuard<'_, State> {
        // The state is replaced whole, so a panic elsewhere cannot leave half of one.
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn replace(&self, with: State) -> State {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *state, with)
    }

    pub(super) fn snapshot(&self) -> Result<Snapshot, StoreError> {
        match &*self.state() {
            State::Open(database) => Ok(Snapshot::new(
                database.begin_read().map_err(StoreError::from_redb)?,
            )),
            State::Failed(error) => Err(error.clone()),
            State::Closed => Err(StoreError::Closed),
        }
    }

    /// Begin the one write transaction. Only the writer thread calls this.
    pub(super) fn begin_write(&self) -> Result<redb::WriteTransaction, StoreError> {
        if matches!(*self.state(), State::Failed(_)) {
            self.reopen()?;
        }
        match &*self.state() {
            State::Open(database) => database.begin_write().map_err(StoreError::from_redb),
            State::Failed(error) => Err(error.clone()),
            State::Closed => Err(StoreError::Closed),
        }
    }

    /// Take a failed database out of service and try once to open it again. redb refuses all
    /// further work after an I/O error; opening it again recovers the last commit.
    pub(super) fn recover(&self, error: &StoreError) {
        warn!(%error, "the store failed; opening it again");
        drop(self.replace(State::Failed(error.clone())));
        if let Err(error) = self.reopen() {
            warn!(%error, "the store stays out of service until it can be opened");
        }
    }

    fn reopen(&self) -> Result<(), StoreError> {
        let opened = (self.opener)().and_then(|database| {
            schema::migrate(&database)?;
            Ok(database)
        });
        match opened {
            Ok(database) => {
                self.replace(State::Open(database));
                info!("the store is back in service");
                Ok(())
            }
            Err(error) => {
                self.replace(State::Failed(error.clone()));
                Err(error)
            }
        }
    }

    pub(super) fn close(&self) {
        drop(self.replace(State::Closed));
    }
}

/// Opens, or makes, the file at `path`.
pub(super) fn file_opener(path: PathBuf, cache_bytes: usize) -> Opener {
    Box::new(move || {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(FILE_MODE)
            .open(&path)
            .map_err(|source| StoreError::OpenFile {
                path: path.clone(),
                source: source.into(),
            })?;
        let file_bytes = file.metadata().map_or(0, |m| m.len());
        let mut database = builder(cache_bytes)
            .create_file(file)
            .map_err(|error| match error {
                DatabaseError::DatabaseAlreadyOpen => StoreError::Locked { path: path.clone() },
                other => StoreError::Open {
                    path: path.clone(),
                    source: redb::Error::from(other).into(),
                },
            })?;
        compaction::compact_if_sparse(&mut database, file_bytes)?;
        Ok(database)
    })
}

/// Opens a new, empty database in memory each time.
pub(super) fn memory_opener() -> Opener {
    Box::new(|| {
        builder(MEMORY_CACHE_BYTES)
            .create_with_backend(redb::backends::InMemoryBackend::new())
            .map_err(StoreError::from_redb)
    })
}

pub(super) fn builder(cache_bytes: usize) -> Builder {
    let mut builder = Builder::new();
    builder.set_cache_size(cache_bytes);
    let told = std::sync::atomic::AtomicBool::new(false);
    builder.set_repair_callback(move |_| {
        if !told.swap(true, std::sync::atomic::Ordering::Relaxed) {
            info!("the store was not closed in order; recovering its last commit");
        }
    });
    builder
}
