//! Table of current leases and owed safe states, by device id: what survives a restart. Turning a
//! lease into a debt, and clearing a debt, take one write each.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::records::Records;
use super::{Store, StoreError, Writing};

pub(super) const TABLES: [&str; 1] = ["leases"];

const LEASES: Records<LeaseRecord> = Records::new(TABLES[0]);

/// A lease, or the debt it left, as stored.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
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
    /// Name of the device when it was taken.
    #[serde(default)]
    pub device_name: String,
    #[serde(default)]
    pub fence: u64,
    /// The lease is over, and the device owes its safe state; the fields of the lease are empty.
    #[serde(default)]
    pub owes: Option<OwedRecord>,
}

/// A safe state that is owed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwedRecord {
    pub why: Why,
    /// By the wall clock.
    pub since_ms: u64,
}

/// Why a safe state is owed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    Released,
    /// By an administrator.
    TakenAway,
    Expired,
    /// The device is to be removed.
    Removal,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Released => "released",
            Self::TakenAway => "taken away",
            Self::Expired => "expired",
            Self::Removal => "removal",
        })
    }
}

/// Delete a device's entry, in the write that removes the device.
pub(super) fn forget(w: &Writing<'_>, device: &str) -> Result<(), StoreError> {
    LEASES.remove(w, device).map(|_| ())
}

impl Store {
    /// All current leases and all debts.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn leases_all(&self) -> Result<Vec<LeaseRecord>, StoreError> {
        self.read(|s| LEASES.all(s)).await
    }

    /// Store a lease or a debt in place of the device's previous entry.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn lease_put(&self, record: LeaseRecord) -> Result<(), StoreError> {
        self.write(move |w| LEASES.put(w, &record.device, &record))
            .await
    }

    /// Mark all leases as expired: their holders are gone, and their devices must be made safe.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn leases_end(&self) -> Result<(), StoreError> {
        self.write(move |w| {
            for mut lease in LEASES.all(w)? {
                lease.expires_ms = 0;
                LEASES.put(w, &lease.device, &lease)?;
            }
            Ok(())
        })
        .await
    }

    /// Delete the lease or the debt of a device.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn lease_delete(&self, device: &str) -> Result<(), StoreError> {
        let device = device.to_owned();
        self.write(move |w| forget(w, &device)).await
    }
}
