//! Pods that are plugged into USB and that the configuration does not name: whether they become devices is the
//! policy's.

use std::sync::Arc;

use tracing::{info, warn};

use super::error::{NAME_BYTES_MAX, write_error};
use super::{DeviceError, Devices};
use base::config::{DeviceConfig, UsbPolicy};
use pods::usb::Plugged;
use store::devices::DeviceRecord;

/// Devices that may come by USB, removed ones too; any more are left out. Whoever can plug something in could otherwise
/// fill the store with serial numbers.
const FOUND_MAX: usize = 64;

/// How the name of such a device begins, before the pod's serial number.
const NAME_PREFIX: &str = "pod-";

impl Devices {
    /// A pod is plugged in: makes it a device of this organisation, or asks, as the policy has it. What is known
    /// already stays as it is. A pod without a serial number cannot be told from others, and has to be configured by
    /// its port.
    ///
    /// # Errors
    /// Its name is taken, or the store fails.
    pub async fn found_on_usb(
        self: &Arc<Self>,
        org: &str,
        pod: &Plugged,
        policy: UsbPolicy,
    ) -> Result<(), DeviceError> {
        let Some(address) = pod.address().filter(|_| policy != UsbPolicy::Listed) else {
            return Ok(());
        };
        let is_meant = |(_, entry): &(String, DeviceConfig)| pod.is_meant_by(&entry.address);
        if self.configured().iter().any(is_meant) {
            return Ok(());
        }
        let name = name_of(pod);
        let known = self.store.devices_all().await?;
        let is_known = known.iter().any(|r| r.org == org && r.address == address);
        if !is_known && FOUND_MAX <= known.iter().filter(|record| was_found(record)).count() {
            warn!(
                serial = pod.serial,
                "left out: as many pods came by USB as may"
            );
            return Ok(());
        }
        let transport = (self.connect)(&address).map_err(|_| DeviceError::NotFound)?;
        if is_known || policy == UsbPolicy::All {
            self.attach_transport(org, &name, &address, transport)
                .await?;
        } else {
            let mut record = self.fresh(org, &name, &address, transport.kind());
            record.removed = true;
            let put = self.store.device_put(record).await;
            put.map_err(|e| write_error(e, &name))?;
            info!(
                device = name,
                address, "a pod was plugged in; admit it to use it"
            );
        }
        // Only now: what failed is tried again when it is plugged in again.
        let entry = DeviceConfig {
            name,
            address,
            ..DeviceConfig::default()
        };
        self.configured().push((org.to_owned(), entry));
        Ok(())
    }
}

/// Whether a device came by USB, rather than by an entry of the configuration.
fn was_found(record: &DeviceRecord) -> bool {
    record.address.starts_with("usb:") && record.first_name.starts_with(NAME_PREFIX)
}

/// A name for a pod that nobody has named: what its serial number has of the characters that a name may have.
fn name_of(pod: &Plugged) -> String {
    let serial = pod.serial.as_deref().unwrap_or_default();
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let room = NAME_BYTES_MAX - NAME_PREFIX.len();
    let plain: String = serial.chars().filter(is_plain).take(room).collect();
    format!("{NAME_PREFIX}{plain}")
}

#[cfg(test)]
mod tests {
    //! What becomes of a pod that is plugged in, by policy.

    use base::clock::Clock;
    use pods::PodOptions;
    use store::Store;

    use super::*;

    const ORG: &str = "org";

    fn simulated(_: &str) -> Result<Arc<dyn pods::Transport>, pods::AddressError> {
        Ok(pod_sim::SimPod::new(pod_sim::SimConfig::default()))
    }

    fn bench() -> (Arc<Devices>, Store) {
        let store = Store::in_memory().unwrap();
        let options = PodOptions::default();
        let devices = Devices::new(store.clone(), Clock::system(), simulated, options);
        (Arc::new(devices), store)
    }

    fn plugged(serial: Option<&str>) -> Plugged {
        Plugged {
            port: "1-2".to_owned(),
            ids: (0x1209, 1),
            product: None,
            serial: serial.map(str::to_owned),
            interface: 0,
        }
    }

    async fn find(devices: &Arc<Devices>, serial: Option<&str>, policy: UsbPolicy) {
        let pod = plugged(serial);
        devices.found_on_usb(ORG, &pod, policy).await.unwrap();
    }

    fn names(devices: &Devices) -> Vec<String> {
        let devices = devices.list(ORG);
        devices.into_iter().map(|d| d.record.name).collect()
    }

    #[tokio::test]
    async fn only_listed_pods_are_devices_unless_the_policy_says_otherwise() {
        let (devices, _store) = bench();
        find(&devices, Some("A1"), UsbPolicy::Listed).await;
        assert!(names(&devices).is_empty());
        for _ in 0..2 {
            find(&devices, Some("A1"), UsbPolicy::All).await;
            assert_eq!(names(&devices), ["pod-A1"]);
        }
        // It could not be told from another one.
        find(&devices, None, UsbPolicy::All).await;
        assert_eq!(names(&devices).len(), 1);
    }

    #[tokio::test]
    async fn a_pod_that_is_asked_about_waits_for_its_admission() {
        let (devices, store) = bench();
        for _ in 0..2 {
            find(&devices, Some("B 2"), UsbPolicy::Ask).await;
            assert!(names(&devices).is_empty());
            assert_eq!(store.devices_all().await.unwrap().len(), 1);
        }
        devices.admit_again(ORG, "pod-B2").await.unwrap();
        assert_eq!(names(&devices), ["pod-B2"]);
        let id = devices.list(ORG)[0].record.id.clone();
        assert!(devices.pod(ORG, &id).is_some());
        // After a restart it is found again, and known.
        let again = Devices::new(store, Clock::system(), simulated, PodOptions::default());
        let again = Arc::new(again);
        again.load().await.unwrap();
        find(&again, Some("B 2"), UsbPolicy::Ask).await;
        assert!(again.pod(ORG, &id).is_some());
    }

    #[tokio::test]
    async fn what_the_configuration_means_is_left_to_it() {
        for address in ["usb", "usb:serial=A1", "usb:port=1-2"] {
            let (devices, _store) = bench();
            let entry = DeviceConfig {
                name: "bench-1".to_owned(),
                address: address.to_owned(),
                ..DeviceConfig::default()
            };
            devices.attach(&[entry], ORG).await.unwrap();
            find(&devices, Some("A1"), UsbPolicy::All).await;
            assert_eq!(names(&devices), ["bench-1"], "{address}");
        }
    }

    #[tokio::test]
    async fn whoever_plugs_in_many_does_not_fill_the_store() {
        let (devices, store) = bench();
        for serial in 0..FOUND_MAX + 5 {
            find(&devices, Some(&serial.to_string()), UsbPolicy::Ask).await;
        }
        assert_eq!(store.devices_all().await.unwrap().len(), FOUND_MAX);
        // Nor by restarting the server in between.
        let again = Devices::new(
            store.clone(),
            Clock::system(),
            simulated,
            PodOptions::default(),
        );
        find(&Arc::new(again), Some("one more"), UsbPolicy::Ask).await;
        assert_eq!(store.devices_all().await.unwrap().len(), FOUND_MAX);
    }

    #[tokio::test]
    async fn a_pod_whose_name_was_taken_comes_when_it_is_free() {
        let (devices, _store) = bench();
        let entry = DeviceConfig {
            name: "pod-A1".to_owned(),
            address: "tcp:bench".to_owned(),
            ..DeviceConfig::default()
        };
        devices.attach(&[entry], ORG).await.unwrap();
        let pod = plugged(Some("A1"));
        let found = devices.found_on_usb(ORG, &pod, UsbPolicy::All).await;
        assert!(matches!(found, Err(DeviceError::NameTaken(_))));
        let id = devices.list(ORG)[0].record.id.clone();
        devices.rename(ORG, &id, "other").await.unwrap();
        find(&devices, Some("A1"), UsbPolicy::All).await;
        assert_eq!(names(&devices), ["other", "pod-A1"]);
    }
}
