//! Deletes what is too old, and files that nothing refers to.

use std::sync::Weak;
use std::time::Duration;

use tracing::{info, warn};

use crate::error::Error;
use crate::service::Analysis;

/// Time between two checks.
const INTERVAL: Duration = Duration::from_secs(3600);

/// Milliseconds of a day.
const DAY_MS: u64 = 24 * 3_600_000;

pub(crate) async fn keep(analysis: Weak<Analysis>) {
    loop {
        let Some(held) = analysis.upgrade() else {
            return;
        };
        if let Err(error) = held.tidy().await {
            warn!(%error, "failed to look for old boards");
        }
        drop(held);
        tokio::time::sleep(INTERVAL).await;
    }
}

impl Analysis {
    /// Delete boards that are too old, with their runs, and uploads that became none.
    ///
    /// # Errors
    /// The store failed.
    pub(crate) async fn tidy(&self) -> Result<(), Error> {
        let now_ms = self.clock.now_ms();
        let days = u64::from(self.config.keep_days);
        let boards_ms = match days {
            0 => 0,
            days => now_ms.saturating_sub(days * DAY_MS),
        };
        let (boards, uploads) = self.store.emi_forget(boards_ms, now_ms).await?;
        if boards + uploads > 0 {
            info!(boards, uploads, "old boards and uploads forgotten");
            self.sweep().await?;
        }
        Ok(())
    }

    /// Remove files that no record refers to any more.
    ///
    /// # Errors
    /// The store failed.
    pub(crate) async fn sweep(&self) -> Result<(), Error> {
        let turn = self.blobs.turn().await;
        let wanted = self.store.read(store::blobs::wanted).await?;
        if let Err(error) = self.blobs.sweep(&turn, &wanted) {
            // They are removed with those of the next time.
            warn!(%error, "failed to remove files that nothing refers to");
        }
        Ok(())
    }
}
