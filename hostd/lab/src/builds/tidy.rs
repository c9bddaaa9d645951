//! Looks for builds that are too old while the server runs.

use std::sync::Weak;
use std::time::Duration;

use tracing::warn;

use super::Builds;

/// Time between two checks.
const INTERVAL: Duration = Duration::from_secs(3600);

pub(super) async fn keep(builds: Weak<Builds>) {
    loop {
        tokio::time::sleep(INTERVAL).await;
        let Some(builds) = builds.upgrade() else {
            return;
        };
        if let Err(error) = builds.tidy().await {
            warn!(%error, "failed to look for old builds");
        }
    }
}
