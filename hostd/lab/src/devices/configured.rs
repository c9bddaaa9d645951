//! Pods that the configuration names. They are remembered, so that a removed device that is admitted
//! again is attached without a restart.

use std::sync::{Arc, MutexGuard, PoisonError};

use super::{AttachError, Devices};
use base::config::DeviceConfig;
use store::devices::DeviceRecord;

impl Devices {
    /// Attach the configured pods for organisation `org`.
    ///
    /// # Errors
    /// A malformed address, a bad or taken name, or the store fails.
    pub async fn attach(
        self: &Arc<Self>,
        configured: &[DeviceConfig],
        org: &str,
    ) -> Result<(), AttachError> {
        for device in configured {
            let entry = (org.to_owned(), device.clone());
            self.configured().push(entry);
            self.attach_configured(org, device).await?;
        }
        Ok(())
    }

    pub(super) async fn attach_configured(
        self: &Arc<Self>,
        org: &str,
        device: &DeviceConfig,
    ) -> Result<(), AttachError> {
        let name = || device.name.clone();
        let known = self.store.devices_all().await;
        let known = known.map_err(|source| AttachError::Record {
            name: name(),
            source: source.into(),
        })?;
        let mut known = known.iter().filter(|r| r.org == org && !r.removed);
        let known = known.find(|r| r.address == device.address);
        let address = pinned(&device.address, known);
        let transport = (self.connect)(&address);
        let transport = transport.map_err(|source| AttachError::Address {
            name: name(),
            source,
        })?;
        self.attach_transport(org, &device.name, &device.address, transport)
            .await
            .map_err(|source| AttachError::Record {
                name: name(),
                source,
            })
    }

    pub(super) fn configured(&self) -> MutexGuard<'_, Vec<(String, DeviceConfig)>> {
        // Each change is one call, so a panic elsewhere leaves a valid list.
        self.configured
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// The address with the certificate that the pod showed first, unless it says which one it must be.
fn pinned(address: &str, known: Option<&DeviceRecord>) -> String {
    match known.map(|record| record.certificate_pin.as_str()) {
        Some(pin) if !pin.is_empty() && address.starts_with("tls:") && !address.contains(',') => {
            format!("{address},sha256={pin}")
        }
        _ => address.to_owned(),
    }
}
