//! Table of devices, with an index by name and one by serial number.
//!
//! A removed device stays as a tombstone, so that its pod, if still attached, does not bring it
//! back.

use serde::{Deserialize, Serialize};

use super::records::{Records, pair};
use super::snapshot::Source;
use super::{Store, StoreError, Writing, leases};

pub(super) const TABLES: [&str; 3] = ["devices", "devices_by_name", "devices_by_serial"];

const DEVICES: Records<DeviceRecord> = Records::new(TABLES[0]);
/// `org/name` to id; live devices only.
const BY_NAME: Records<String> = Records::new(TABLES[1]);
/// `serial/id` to id; live devices that have reported their serial number.
const BY_SERIAL: Records<String> = Records::new(TABLES[2]);

/// A device as stored. What it is doing now (online, lease) is not here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceRecord {
    /// ULID.
    pub id: String,
    pub org: String,
    /// `[A-Za-z0-9._-]{1,64}`, unique in the organisation.
    pub name: String,
    /// Name under which it was first admitted.
    pub first_name: String,
    /// The address of its pod: `tcp:host:port`, `tls:host:port`, `dial:<public key>`, `sim:…`.
    pub address: String,
    /// `usb`, `tcp`, `dial` or `sim`.
    pub transport: String,
    /// The pod's own serial number; empty until it was online once.
    pub serial: String,
    /// Board and revision as last reported; empty until it was online once.
    pub board: String,
    pub firmware_version: String,
    /// The pod's public key, base64url; empty until it was online once. A pod with another key is not
    /// accepted in its place.
    #[serde(default)]
    pub public_key: String,
    /// SHA-256 of the certificate that a pod behind TLS showed first, in hex; empty without TLS.
    #[serde(default)]
    pub certificate_pin: String,
    /// Id of the user who registered a pod that dials in; empty for other devices.
    #[serde(default)]
    pub registered_by: String,
    /// A pod that dials in has proven itself to this server by name; a proof without it counts no more.
    #[serde(default)]
    pub proves_name: bool,
    pub created_ms: u64,
    /// None = never online.
    pub last_active_ms: Option<u64>,
    /// A tombstone: its name is free, and nobody sees it.
    pub removed: bool,
}

/// Why a device could not be written.
#[derive(Debug, thiserror::Error)]
pub enum DeviceWriteError {
    #[error("use the name: another device of the organisation has it")]
    NameTaken,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A device by id, tombstones too.
///
/// # Errors
/// The storage failed.
pub fn by_id(from: &impl Source, id: &str) -> Result<Option<DeviceRecord>, StoreError> {
    DEVICES.get(from, id)
}

/// A live device of `org` by name.
///
/// # Errors
/// The storage failed.
pub fn by_name(
    from: &impl Source,
    org: &str,
    name: &str,
) -> Result<Option<DeviceRecord>, StoreError> {
    match BY_NAME.get(from, &pair(org, name))? {
        Some(id) => DEVICES.get(from, &id),
        None => Ok(None),
    }
}

/// Live devices of `org`, by name.
///
/// # Errors
/// The storage failed.
pub fn list(from: &impl Source, org: &str) -> Result<Vec<DeviceRecord>, StoreError> {
    through(from, &BY_NAME, org)
}

/// Live devices of any organisation that reported this serial number; more than one only if pods
/// share it.
///
/// # Errors
/// The storage failed.
#[cfg(test)]
pub(crate) fn by_serial(from: &impl Source, serial: &str) -> Result<Vec<DeviceRecord>, StoreError> {
    through(from, &BY_SERIAL, serial)
}

impl Store {
    /// All devices of all organisations, tombstones too, oldest first.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn devices_all(&self) -> Result<Vec<DeviceRecord>, StoreError> {
        self.read(|s| DEVICES.all(s)).await
    }

    /// A device by id, tombstones too.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn device(&self, id: &str) -> Result<Option<DeviceRecord>, StoreError> {
        let id = id.to_owned();
        self.read(move |s| by_id(s, &id)).await
    }

    /// A live device of `org` by name.
    ///
    /// # Errors
    /// The storage failed.
    #[cfg(test)]
    pub(crate) async fn device_by_name(
        &self,
        org: &str,
        name: &str,
    ) -> Result<Option<DeviceRecord>, StoreError> {
        let (org, name) = (org.to_owned(), name.to_owned());
        self.read(move |s| by_name(s, &org, &name)).await
    }

    /// Write a whole record, new or existing.
    ///
    /// # Errors
    /// The name is another live device's, or the storage failed.
    pub async fn device_put(&self, record: DeviceRecord) -> Result<(), DeviceWriteError> {
        self.write(move |w| put(w, &record)).await
    }

    /// Change an existing device in one step, so that neither of two concurrent changes is lost;
    /// returns it as stored, none if it is unknown or removed. `f` may run more than once, and
    /// cannot change id or organisation.
    ///
    /// # Errors
    /// The name is another live device's, or the storage failed.
    pub async fn device_update(
        &self,
        id: &str,
        f: impl Fn(&mut DeviceRecord) + Send + 'static,
    ) -> Result<Option<DeviceRecord>, DeviceWriteError> {
        let id = id.to_owned();
        self.write(move |w| {
            let Some(old) = DEVICES.get(w, &id)?.filter(|d| !d.removed) else {
                return Ok(None);
            };
            let mut record = old.clone();
            f(&mut record);
            (record.id, record.org) = (old.id, old.org);
            put(w, &record)?;
            Ok(Some(record))
        })
        .await
    }
}

impl Store {
    /// Turn a device into a tombstone, and delete its lease or debt, in one write; false if it is
    /// unknown or already removed.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn device_remove(&self, id: &str) -> Result<bool, DeviceWriteError> {
        let id = id.to_owned();
        self.write(move |w| {
            let Some(mut record) = DEVICES.get(w, &id)?.filter(|d| !d.removed) else {
                return Ok(false);
            };
            record.removed = true;
            put(w, &record)?;
            leases::forget(w, &id)?;
            Ok(true)
        })
        .await
    }

    /// Turn a tombstone into a live device again; none if it is unknown or not removed.
    ///
    /// # Errors
    /// The name is another live device's, or the storage failed.
    pub async fn device_restore(&self, id: &str) -> Result<Option<DeviceRecord>, DeviceWriteError> {
        let id = id.to_owned();
        self.write(move |w| {
            let Some(mut record) = DEVICES.get(w, &id)?.filter(|d| d.removed) else {
                return Ok(None);
            };
            record.removed = false;
            put(w, &record)?;
            Ok(Some(record))
        })
        .await
    }
}

fn put(w: &Writing<'_>, record: &DeviceRecord) -> Result<(), DeviceWriteError> {
    let name_key = pair(&record.org, &record.name);
    let holder = BY_NAME.get(w, &name_key)?;
    if !record.removed && holder.is_some_and(|holder| holder != record.id) {
        return Err(DeviceWriteError::NameTaken);
    }
    if let Some(old) = DEVICES.get(w, &record.id)?.filter(|old| !old.removed) {
        BY_NAME.remove(w, &pair(&old.org, &old.name))?;
        BY_SERIAL.remove(w, &pair(&old.serial, &old.id))?;
    }
    if !record.removed {
        BY_NAME.put(w, &name_key, &record.id)?;
        if !record.serial.is_empty() {
            BY_SERIAL.put(w, &pair(&record.serial, &record.id), &record.id)?;
        }
    }
    Ok(DEVICES.put(w, &record.id, record)?)
}

/// Records whose ids are in `index` under keys that begin with `first`.
fn through(
    from: &impl Source,
    index: &Records<String>,
    first: &str,
) -> Result<Vec<DeviceRecord>, StoreError> {
    let ids = index.all_of(from, first)?;
    let mut found = Vec::with_capacity(ids.len());
    for id in ids {
        found.extend(DEVICES.get(from, &id)?);
    }
    Ok(found)
}
