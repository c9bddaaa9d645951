//! Table of the leases that are held, by device id: what survives a restart.

use serde::{Deserialize, Serialize};

use super::records::Records;
use super::{Store, StoreError};

pub(super) const TABLES: [&str; 1] = ["leases"];

const LEASES: Records<LeaseRecord> = Records::new(TABLES[0]);

/// A lease as stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeaseRecord {
    /// Device id; also the record's key.
    pub device: String,
    /// Chosen by the client.
    pub lease_id: String,
    /// `<organisation>/<user>`
    pub owner: String,
    /// Label for others.
    pub holder: String,
    pub ttl_ms: u64,
    /// By the wall clock.
    pub expires_ms: u64,
}

impl Store {
    /// All leases that are held.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn leases_all(&self) -> Result<Vec<LeaseRecord>, StoreError> {
        self.read(|s| LEASES.all(s)).await
    }

    /// Store a lease in place of the device's former one.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn lease_put(&self, record: LeaseRecord) -> Result<(), StoreError> {
        self.write(move |w| LEASES.put(w, &record.device, &record))
            .await
    }

    /// Forget the lease of a device.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn lease_delete(&self, device: &str) -> Result<(), StoreError> {
        let device = device.to_owned();
        self.write(move |w| LEASES.remove(w, &device).map(|_| ()))
            .await
    }
}
