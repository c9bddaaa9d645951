//! What hostd stores: one redb file, typed tables, one writer.
//!
//! ```text
//! tasks ── write(closure) ──> queue ──> writer thread: many closures, one transaction, one fsync
//! tasks ── read(closure)  ──> blocking pool: a snapshot, never held across an await
//! ```
//!
//! A file under `store/` holds one table: its record, its keys, and every function that reads or
//! writes it. A write transaction begins and ends inside one of those functions; nobody else sees
//! one. A write that returned `Ok` is on disk. Reads see only whole transactions.

use std::path::Path;
use std::sync::Arc;

use base::{folder, space};

use crate::database::{Database, Opener, Relief};
use crate::writer::Writer;

pub mod badges;
pub mod blobs;
pub mod builds;
pub mod captures;
pub mod codes;
pub mod commit_statuses;
mod compaction;
mod copy;
mod database;
pub mod devices;
pub mod emi;
mod error;
pub mod handler_kv;
pub mod jobs;
pub mod keys;
pub mod leases;
pub mod measurements;
pub mod notices;
mod opening;
pub mod org_secrets;
pub mod orgs;
pub mod plugins;
mod records;
pub mod refreshes;
pub mod revocations;
mod schema;
mod seal;
pub mod secrets;
mod snapshot;
#[doc(hidden)]
pub mod testing;
pub mod trust;
pub mod updates;
pub mod users;
mod view;
pub mod waveforms;
pub mod webhooks;
mod writer;
mod writing;

#[cfg(test)]
mod tests;

pub use copy::{Looked, look};
pub use error::StoreError;
pub use records::Unreadable;
pub use schema::SCHEMA_VERSION;
pub use snapshot::Snapshot;

use writing::Writing;

/// The store. Cloning shares it; [`Store::close`] ends it for all clones.
#[derive(Debug, Clone)]
pub struct Store {
    database: Arc<Database>,
    writer: Arc<Writer>,
}

impl Store {
    /// Open the store in the folder `dir`, creating it if there is none; bring its schema up to
    /// date, and compact it if it is mostly free space. `cache_mib` bounds the page cache.
    ///
    /// # Errors
    /// The file is in use by another process, damaged, newer than this program, or unreadable.
    pub fn open(dir: &Path, cache_mib: u32) -> Result<Self, StoreError> {
        let path = dir.join(folder::STORE);
        let cache_bytes = (cache_mib as usize).saturating_mul(1 << 20);
        let dir = dir.to_owned();
        Self::start(
            opening::file_opener(path, cache_bytes),
            Box::new(move || space::give_up_reserve(&dir)),
        )
    }

    /// Why nothing can be read or written, if so.
    #[must_use]
    pub fn failure(&self) -> Option<StoreError> {
        self.database.failure()
    }

    /// Transactions that were written since it was opened: what the disk was waited for. Writes share them.
    #[must_use]
    pub fn commits(&self) -> u64 {
        self.database.commits()
    }

    /// A store that lives in memory and is gone with the last clone. For tests.
    ///
    /// # Errors
    /// None that a test would expect.
    pub fn in_memory() -> Result<Self, StoreError> {
        Self::start(database::memory_opener(), Box::new(|| false))
    }

    fn start(opener: Opener, relief: Relief) -> Result<Self, StoreError> {
        let database = Arc::new(Database::open(opener, relief)?);
        let writer = Arc::new(Writer::start(database.clone())?);
        Ok(Self { database, writer })
    }

    /// The state as of now. Blocks on the disk: on an async thread use [`Store::read`].
    ///
    /// # Errors
    /// The store is closed or has failed.
    pub fn snapshot(&self) -> Result<Snapshot, StoreError> {
        self.database.snapshot()
    }

    /// Run `f` on a snapshot, off the async threads.
    ///
    /// # Errors
    /// Those of `f`, and those of [`Store::snapshot`].
    pub async fn read<T, E>(
        &self,
        f: impl FnOnce(&Snapshot) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let database = self.database.clone();
        let work = move || f(&database.snapshot()?);
        match tokio::task::spawn_blocking(work).await {
            Ok(result) => result,
            Err(_) => Err(StoreError::Panicked.into()),
        }
    }

    /// Run `f` in the next write transaction; returns when it is on disk. `f` may run more than
    /// once, if another closure of the same transaction was refused after it had written: only the
    /// last run counts. If `f` fails, nothing it wrote stays.
    async fn write<T, E>(
        &self,
        f: impl FnMut(&Writing<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        self.writer.write(f).await
    }

    /// Hand `f` to the writer and do not wait. For data that may be lost: it is dropped if the
    /// queue is full or the store fails.
    fn write_later(&self, f: impl FnMut(&Writing<'_>) -> Result<(), StoreError> + Send + 'static) {
        self.writer.write_later(f);
    }

    /// Finish what is queued, close the file and wait for it. Later calls fail with
    /// [`StoreError::Closed`].
    ///
    /// # Errors
    /// None today; kept for closing work that can fail.
    pub async fn close(&self) -> Result<(), StoreError> {
        let writer = self.writer.clone();
        let done = tokio::task::spawn_blocking(move || writer.stop());
        done.await.map_err(|_| StoreError::Panicked)
    }
}
