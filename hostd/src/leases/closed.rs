//! Devices that nobody drives for a while, whatever lease is shown, since the server does something
//! to them that must not be disturbed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::table::Busy;

/// Pause that one is asked to make before asking again.
const RETRY_MS: u64 = 5_000;

/// Device ids, each with what keeps it closed, as others are told.
#[derive(Debug, Clone, Default)]
pub(super) struct ClosedDevices(Arc<Mutex<HashMap<String, String>>>);

/// One closed device. Dropping it opens the device.
#[derive(Debug)]
pub struct Closed {
    device: String,
    all: ClosedDevices,
}

impl ClosedDevices {
    /// Close a device because of `reason`.
    ///
    /// # Errors
    /// It is closed already.
    pub(super) fn close(&self, device: &str, reason: &str) -> Result<Closed, Busy> {
        let mut all = self.lock();
        if let Some(reason) = all.get(device) {
            return Err(busy(reason));
        }
        all.insert(device.to_owned(), reason.to_owned());
        Ok(Closed {
            device: device.to_owned(),
            all: self.clone(),
        })
    }

    /// # Errors
    /// The device is closed.
    pub(super) fn check(&self, device: &str) -> Result<(), Busy> {
        self.lock()
            .get(device)
            .map_or(Ok(()), |reason| Err(busy(reason)))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, String>> {
        // Each change is one call, so a panic elsewhere leaves a valid map.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn busy(reason: &str) -> Busy {
    Busy {
        holder: Some(reason.to_owned()),
        expires_ms: None,
        place: None,
        retry_after_ms: RETRY_MS,
    }
}

impl Drop for Closed {
    fn drop(&mut self) {
        self.all.lock().remove(&self.device);
    }
}

#[cfg(test)]
mod tests {
    use super::ClosedDevices;

    #[test]
    fn a_device_is_closed_once_and_opens_by_itself() {
        let devices = ClosedDevices::default();
        let closed = devices.close("a", "a firmware update").unwrap();
        let told = devices.close("a", "another").unwrap_err();
        assert_eq!(told.holder.as_deref(), Some("a firmware update"));
        assert!(devices.check("a").is_err() && devices.check("b").is_ok());
        drop(closed);
        assert!(devices.check("a").is_ok());
    }
}
