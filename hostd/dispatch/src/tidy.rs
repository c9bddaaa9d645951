//! Jobs that are too old, and folders without a job.

use std::collections::HashSet;
use std::fs;
use std::sync::Weak;
use std::time::Duration;

use base::clock::Clock;
use store::{Store, StoreError};
use tracing::{info, warn};

use crate::files::Files;

/// Between two looks.
const EVERY: Duration = Duration::from_secs(3600);

/// What is needed for it.
#[derive(Debug)]
pub(crate) struct Tidy {
    pub(crate) files: Files,
    pub(crate) store: Store,
    pub(crate) clock: Clock,
    pub(crate) keep_ms: u64,
}

impl Tidy {
    /// Forgets jobs that finished long ago, with their files.
    pub(crate) async fn forget_old(&self) -> Result<(), StoreError> {
        let before_ms = self.clock.now_ms().saturating_sub(self.keep_ms);
        let old = self.store.jobs_forget(before_ms).await?;
        if old.is_empty() {
            return Ok(());
        }
        info!(count = old.len(), "old jobs forgotten");
        let files = self.files.clone();
        let removed = tokio::task::spawn_blocking(move || {
            for job in old {
                if let Err(error) = files.remove(&job) {
                    warn!(job, %error, "failed to remove the files of an old job");
                }
            }
        });
        removed.await.map_err(|_| StoreError::Panicked)
    }

    /// Removes folders of jobs that there are none of: the server ended between making them and storing the job.
    pub(crate) async fn sweep(&self) -> Result<(), StoreError> {
        let known = self.store.read(store::jobs::ids).await?;
        let files = self.files.clone();
        let swept = tokio::task::spawn_blocking(move || sweep(&files, &known));
        swept.await.map_err(|_| StoreError::Panicked)
    }
}

fn sweep(files: &Files, known: &HashSet<String>) {
    let Ok(folders) = fs::read_dir(files.root()) else {
        return;
    };
    for folder in folders.flatten() {
        let name = folder.file_name();
        let Some(name) = name.to_str().filter(|name| !known.contains(*name)) else {
            continue;
        };
        if base::id::is_ulid(name)
            && let Err(error) = files.remove(name)
        {
            warn!(job = name, %error, "failed to remove what a job has left that was never queued");
        }
    }
}

/// Forgets old jobs for as long as the service lives.
pub(crate) async fn keep(tidy: Weak<Tidy>) {
    loop {
        tokio::time::sleep(EVERY).await;
        let Some(tidy) = tidy.upgrade() else { return };
        if let Err(error) = tidy.forget_old().await {
            warn!(%error, "failed to forget old jobs");
        }
    }
}
