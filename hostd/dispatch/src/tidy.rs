//! Jobs that are too old, and folders without a job. None of it holds up the start.

use std::collections::HashSet;
use std::fs;
use std::mem;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use base::clock::Clock;
use store::jobs::{Forgotten, Overview};
use store::{Store, StoreError};
use tracing::{info, warn};

use crate::attempt::Tools;
use crate::files::Files;

/// Between two looks.
const EVERY: Duration = Duration::from_secs(3600);

/// What is needed for it.
pub(crate) struct Tidy {
    tools: Arc<Tools>,
    store: Store,
    clock: Clock,
    keep_ms: u64,
    /// Folders of jobs that there are none of.
    strays: Mutex<Vec<String>>,
}

impl Tidy {
    pub(crate) fn new(
        tools: Arc<Tools>,
        store: Store,
        clock: Clock,
        keep_days: u32,
        strays: Vec<String>,
    ) -> Self {
        Self {
            tools,
            store,
            clock,
            keep_ms: u64::from(keep_days) * 24 * 3_600_000,
            strays: Mutex::new(strays),
        }
    }

    async fn look(&self) -> Result<(), StoreError> {
        let strays = mem::take(&mut *self.strays.lock().unwrap_or_else(PoisonError::into_inner));
        remove(&self.tools.files, strays).await?;
        let before_ms = self.clock.now_ms().saturating_sub(self.keep_ms);
        let old = self.store.jobs_forget(before_ms).await?;
        self.tools.forget(old, "an old job was forgotten").await
    }
}

impl Tools {
    /// Removes the files of jobs that were deleted, and counts them no more.
    pub(crate) async fn forget(&self, gone: Vec<Forgotten>, why: &str) -> Result<(), StoreError> {
        for job in &gone {
            info!(job = job.id, "{why}");
            self.ledger.forget(&job.org, job.bytes);
        }
        remove(&self.files, gone.into_iter().map(|job| job.id).collect()).await
    }
}

async fn remove(files: &Files, jobs: Vec<String>) -> Result<(), StoreError> {
    if jobs.is_empty() {
        return Ok(());
    }
    let files = files.clone();
    let removed = tokio::task::spawn_blocking(move || {
        for job in jobs {
            if let Err(error) = files.remove(&job) {
                warn!(job, %error, "failed to remove the files of a job that there is no more");
            }
        }
    });
    removed.await.map_err(|_| StoreError::Panicked)
}

/// Folders of jobs that there are none of: the server ended between making them and storing the job. To be called
/// before jobs are taken in.
pub(crate) async fn strays(files: &Files, overview: &Overview) -> Result<Vec<String>, StoreError> {
    let files = files.clone();
    let listed = tokio::task::spawn_blocking(move || folders(&files)).await;
    let listed = listed.map_err(|_| StoreError::Panicked)?;
    let known: HashSet<&str> = overview.heads.iter().map(|(_, id, _)| &**id).collect();
    let strays = listed.into_iter();
    Ok(strays.filter(|job| !known.contains(&**job)).collect())
}

fn folders(files: &Files) -> Vec<String> {
    let Ok(folders) = fs::read_dir(files.root()) else {
        return Vec::new();
    };
    let names = folders.flatten().map(|folder| folder.file_name());
    let names = names.filter_map(|name| name.into_string().ok());
    names.filter(|name| base::id::is_ulid(name)).collect()
}

/// Looks at once, and again and again for as long as the service lives.
pub(crate) async fn keep(tidy: Weak<Tidy>) {
    loop {
        let Some(held) = tidy.upgrade() else { return };
        if let Err(error) = held.look().await {
            warn!(%error, "failed to forget old jobs");
        }
        drop(held);
        tokio::time::sleep(EVERY).await;
    }
}
