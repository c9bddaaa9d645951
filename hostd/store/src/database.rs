//! The open redb file: opening, reopening after a failed disk, closing.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};
use std::time::{Duration, Instant};

use redb::{Builder, ReadableDatabase};
use tracing::{info, warn};

use super::error::StoreError;
use super::schema;
use super::snapshot::Snapshot;

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

/// Makes room on a full disk; returns whether it did. See [`base::space`].
pub(super) type Relief = Box<dyn Fn() -> bool + Send + Sync>;

/// After a write that found the disk full, writes are refused untried for this many times as long as
/// reopening the database took, which leaves that time to readers.
const REOPENINGS_PAUSED: u32 = 4;

/// At least this long: a full disk does not empty itself faster.
const FULL_PAUSE_MIN: Duration = Duration::from_millis(100);

pub(super) struct Database {
    state: RwLock<State>,
    opener: Opener,
    relief: Relief,
    /// Set while the disk is full. Only the writer thread uses it.
    full: Mutex<Option<Full>>,
    commits: AtomicU64,
}

/// The writer's last failure to find space.
struct Full {
    error: StoreError,
    /// When it is worth another try.
    next_try: Instant,
}

impl std::fmt::Debug for Database {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Database")
    }
}

impl Database {
    pub(super) fn open(opener: Opener, relief: Relief) -> Result<Self, StoreError> {
        let open = || {
            let database = opener()?;
            schema::migrate(&database)?;
            Ok(database)
        };
        let database = match open() {
            Err(StoreError::Full { .. }) if relief() => open()?,
            opened => opened?,
        };
        Ok(Self {
            state: RwLock::new(State::Open(database)),
            opener,
            relief,
            full: Mutex::new(None),
            commits: AtomicU64::default(),
        })
    }

    /// Why the whole store cannot be used, if so.
    pub(super) fn failure(&self) -> Option<StoreError> {
        match &*self.state() {
            State::Open(_) => None,
            State::Failed(error) => Some(error.clone()),
            State::Closed => Some(StoreError::Closed),
        }
    }

    fn full(&self) -> MutexGuard<'_, Option<Full>> {
        // The value is replaced as a whole, so a panic elsewhere cannot leave half of one.
        self.full.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn state(&self) -> RwLockReadGuard<'_, State> {
        // The state is replaced as a whole, so a panic elsewhere cannot leave half of one.
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

    /// The disk was full: give up the reserve, if that has not been done. True if it is worth
    /// trying again.
    pub(super) fn relieve(&self, error: &StoreError) -> bool {
        if !(self.relief)() {
            return false;
        }
        warn!("the disk is full; what was laid by is given to the store");
        drop(self.replace(State::Failed(error.clone())));
        self.reopen().is_ok()
    }

    /// Take a failed database out of service and try once to reopen it. redb refuses all further work
    /// after an I/O error; reopening recovers the last commit. While a disk stays full this repeats,
    /// but is logged once.
    pub(super) fn recover(&self, error: &StoreError) {
        let is_full = matches!(error, StoreError::Full { .. });
        let was_full = self.full().is_some();
        if !(is_full && was_full) {
            warn!(%error, "the store failed; opening it again");
        }
        let began = Instant::now();
        drop(self.replace(State::Failed(error.clone())));
        match self.reopen() {
            Ok(()) if !is_full => info!("the store is back in service"),
            Ok(()) => {}
            Err(error) => warn!(%error, "the store stays out of service until it can be opened"),
        }
        if is_full {
            let pause = began.elapsed() * REOPENINGS_PAUSED;
            *self.full() = Some(Full {
                error: error.clone(),
                next_try: Instant::now() + pause.max(FULL_PAUSE_MIN),
            });
        }
    }

    /// Why it is not worth trying to write now, if so.
    pub(super) fn pause(&self) -> Option<StoreError> {
        let full = self.full();
        let waiting = full.as_ref().filter(|full| Instant::now() < full.next_try);
        waiting.map(|full| full.error.clone())
    }

    /// A write is on disk.
    pub(super) fn wrote(&self) {
        self.commits.fetch_add(1, Ordering::Relaxed);
        if self.full().take().is_some() {
            info!("the store can write again");
        }
    }

    /// Transactions that were written since it was opened.
    pub(super) fn commits(&self) -> u64 {
        self.commits.load(Ordering::Relaxed)
    }

    fn reopen(&self) -> Result<(), StoreError> {
        let opened = (self.opener)().and_then(|database| {
            schema::migrate(&database)?;
            Ok(database)
        });
        match opened {
            Ok(database) => {
                self.replace(State::Open(database));
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
    builder
}
