//! The last record of a capture: its samples are on disk by then, so it must not get lost.

use std::collections::HashMap;
use std::sync::{MutexGuard, PoisonError};
use std::time::Duration;

use tracing::error;

use super::Captures;
use store::captures::CaptureRecord;

/// Pauses between attempts to write it.
const PAUSES: [Duration; 3] = [
    Duration::from_millis(100),
    Duration::from_secs(1),
    Duration::from_secs(3),
];

impl Captures {
    /// Last records that the store has not accepted, by capture.
    pub(super) fn unstored(&self) -> MutexGuard<'_, HashMap<String, CaptureRecord>> {
        // Each change is one call, so a panic elsewhere leaves a valid map.
        self.unstored.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Write the last record of a capture unless it was deleted meanwhile; true if it exists, or if
    /// writing failed: its samples stay, and the next start finds them.
    pub(super) async fn note_last(&self, record: &CaptureRecord) -> bool {
        for pause in PAUSES.into_iter().map(Some).chain([None]) {
            match self.store.capture_update(record.clone()).await {
                Ok(there) => {
                    self.unstored().remove(&record.id);
                    return there;
                }
                Err(e) => {
                    error!(capture = record.id, error = %e, "failed to store how a capture ended");
                }
            }
            self.unstored().insert(record.id.clone(), record.clone());
            if let Some(pause) = pause {
                tokio::time::sleep(pause).await;
            }
        }
        true
    }
}
