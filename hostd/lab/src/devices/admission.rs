//! Removing a device from the bench, and admitting it again. Its lease decides whether that is
//! allowed.

use std::sync::Arc;

use base::news::Kind;
use serde_json::json;
use tracing::{info, warn};

use super::error::{DeviceError, write_error};
use super::{Devices, Entry, registered};
use base::config::DeviceConfig;
use store::devices::DeviceRecord;

impl Devices {
    /// Make a device a tombstone, forget its lease or debt, and let its pod go.
    ///
    /// # Errors
    /// It does not exist, or the store fails.
    pub(crate) async fn remove(self: &Arc<Self>, id: &str) -> Result<(), DeviceError> {
        let id = id.to_owned();
        self.finish(|devices| async move {
            let _order = devices.changes.lock().await;
            let removed = devices.store.device_remove(&id).await;
            removed.map_err(|e| write_error(e, &id))?;
            devices.tell(Kind::DeviceRemoved, &id, &id, json!({}));
            devices.write().remove(&id);
            devices.attached.send_replace(());
            devices.changed.send_replace(());
            Ok(())
        })
        .await
    }

    /// Bring back an organisation's removed device with its former id, name and wiring, and attach its
    /// pod if it is configured or dials in. `which` is its id, or a name or address, which means the most recently
    /// created device. Returns the id.
    ///
    /// # Errors
    /// There is none, its name or pod now belongs to another device, or the store fails.
    pub(crate) async fn admit_again(
        self: &Arc<Self>,
        org: &str,
        which: &str,
    ) -> Result<String, DeviceError> {
        let (org, which) = (org.to_owned(), which.to_owned());
        self.finish(|devices| async move {
            let order = devices.changes.lock().await;
            let all = devices.store.devices_all().await?;
            let found = removed(&all, &org, &which).ok_or(DeviceError::NotFound)?;
            let is_twin =
                |r: &&DeviceRecord| r.org == org && !r.removed && r.address == found.address;
            if let Some(twin) = all.iter().find(is_twin) {
                return Err(DeviceError::PodTaken(twin.name.clone()));
            }
            let restored = devices.store.device_restore(&found.id).await;
            let record = restored.map_err(|e| write_error(e, &found.name))?;
            let record = record.ok_or(DeviceError::NotFound)?;
            info!(
                device = record.name,
                id = record.id,
                "device admitted again"
            );
            let entry = Entry {
                record: record.clone(),
                pod: None,
            };
            devices.write().insert(record.id.clone(), entry);
            devices.tell_added(&record.id);
            drop(order);
            devices.attach_again(&record).await;
            Ok(record.id)
        })
        .await
    }

    async fn attach_again(self: &Arc<Self>, record: &DeviceRecord) {
        let configured = self.configured().iter().find_map(|(org, device)| {
            let is_it = *org == record.org && device.address == record.address;
            is_it.then(|| device.clone())
        });
        let registered = registered::key_of(&record.address).map(|_| DeviceConfig {
            name: record.first_name.clone(),
            address: record.address.clone(),
            ..DeviceConfig::default()
        });
        let Some(device) = configured.or(registered) else {
            info!(device = record.name, "its pod is not configured");
            return;
        };
        if let Err(error) = self.attach_configured(&record.org, &device).await {
            warn!(device = record.name, %error, "failed to attach the pod of an admitted device");
        }
    }
}

/// The tombstone that is meant. Records come oldest first.
pub fn removed<'r>(all: &'r [DeviceRecord], org: &str, which: &str) -> Option<&'r DeviceRecord> {
    let gone = || all.iter().filter(|r| r.org == org && r.removed);
    let by_id = gone().find(|r| r.id == which);
    by_id.or_else(|| {
        let named = |r: &&DeviceRecord| r.name == which || r.first_name == which;
        gone().rev().find(|r| named(r) || r.address == which)
    })
}
