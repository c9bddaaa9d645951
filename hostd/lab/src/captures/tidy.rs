//! Looks for captures that are too old while the server runs.

use std::ops::ControlFlow;
use std::sync::{Arc, Weak};
use std::time::Duration;

use tracing::{info, warn};

use super::{CaptureError, Captures};
use store::StoreError;
use store::captures;

/// Time between two checks.
const INTERVAL: Duration = Duration::from_secs(3600);

pub(super) async fn keep(captures: Weak<Captures>) {
    loop {
        let Some(captures) = captures.upgrade() else {
            return;
        };
        if let Err(error) = captures.tidy().await {
            warn!(%error, "failed to look for old captures");
        }
        drop(captures);
        tokio::time::sleep(INTERVAL).await;
    }
}

impl Captures {
    /// Delete captures that are neither named nor pinned and older than the configuration allows.
    ///
    /// # Errors
    /// The store.
    pub(crate) async fn tidy(self: &Arc<Self>) -> Result<(), CaptureError> {
        if self.config.keep_days == 0 {
            return Ok(());
        }
        let keep_ms = u64::from(self.config.keep_days) * 24 * 3_600_000;
        let before_ms = self.clock.now_ms().saturating_sub(keep_ms);
        for org in self.ledger.orgs() {
            let read = self.store.read(move |s| {
                let mut old = Vec::new();
                captures::giving_way(s, &org, |record| {
                    if record.created_ms >= before_ms {
                        return ControlFlow::Break(());
                    }
                    old.push(record.id);
                    ControlFlow::Continue(())
                })?;
                Ok::<_, StoreError>(old)
            });
            let old = read.await?;
            for id in &old {
                self.forget(id).await?;
            }
            if !old.is_empty() {
                info!(count = old.len(), "old captures forgotten");
            }
        }
        Ok(())
    }
}
