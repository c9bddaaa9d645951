//! Table of pod updates: the last one of each device.

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::records::Records;
use super::snapshot::Range;
use super::{Store, StoreError};

mod phase;

pub use phase::{Event, Phase};

pub(super) const TABLES: [&str; 1] = ["updates"];

/// Device id to its last update.
const UPDATES: Records<UpdateRecord> = Records::new(TABLES[0]);

/// An update of a pod's firmware as stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UpdateRecord {
    /// ULID.
    pub id: String,
    pub org: String,
    /// Device id; also the record's key.
    pub device: String,
    pub phase: Phase,
    /// Bytes of the image that the pod has.
    pub bytes: u64,
    pub bytes_total: u64,
    /// Of the image, lower-case hexadecimal.
    pub sha256: String,
    /// The pod's verdict on the signature: `none`, `ok`, or why it is not valid. None until the pod
    /// has reported it.
    pub signature: Option<String>,
    pub version_before: String,
    /// None until the pod is back.
    pub version_after: Option<String>,
    /// Why it failed or was abandoned.
    pub error: Option<String>,
    pub created_ms: u64,
    pub finished_ms: Option<u64>,
}

impl Store {
    /// The last update of a device.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn update_get(&self, device: &str) -> Result<Option<UpdateRecord>, StoreError> {
        let device = device.to_owned();
        self.read(move |s| UPDATES.get(s, &device)).await
    }

    /// Updates that had not ended when the server stopped.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn updates_unfinished(&self) -> Result<Vec<UpdateRecord>, StoreError> {
        self.read(|s| {
            let mut found = Vec::new();
            UPDATES.each(s, Range::ALL, |_, record| {
                if !record.phase.is_final() {
                    found.push(record);
                }
                ControlFlow::Continue(())
            })?;
            Ok(found)
        })
        .await
    }

    /// Store an update in place of the device's previous one.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn update_put(&self, record: UpdateRecord) -> Result<(), StoreError> {
        self.write(move |w| UPDATES.put(w, &record.device, &record))
            .await
    }

    /// Delete the update of a device.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn update_delete(&self, device: &str) -> Result<(), StoreError> {
        let device = device.to_owned();
        self.write(move |w| UPDATES.remove(w, &device).map(|_| ()))
            .await
    }
}
