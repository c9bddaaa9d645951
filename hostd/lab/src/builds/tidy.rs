//! Looks for builds that are too old while the server runs.

use std::sync::Weak;
use std::time::Duration;

use tracing::warn;

use super::Builds;

/// Time between two checks.
const INTERVAL: Duration = Duration::from_secs(3600);

pub(super) async fn keep(builds: Weak<Builds>) {
    loop {
        let Some(held) = builds.upgrade() else {
            return;
        };
        if let Err(error) = held.tidy().await {
            warn!(%error, "failed to look for old builds");
        }
        drop(held);
        tokio::time::sleep(INTERVAL).await;
    }
}
