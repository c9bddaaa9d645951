//! The pods that are plugged in, and waiting for one.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::StreamExt;
use nusb::hotplug::HotplugWatch;
use nusb::{DeviceId, DeviceInfo};
use pod_protocol::driver;
use pod_protocol::usb::INTERFACE;

use super::SCHEME;
use super::selector::Selector;

/// How often the ports are looked at while one waits for a pod. The kernel's events come at once, but not where no
/// udev runs, as in most containers.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// A pod that is plugged into USB. Nothing of it was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plugged {
    /// Where it is plugged in, as the kernel names it: bus, then the chain of ports, `1-2.3`.
    pub port: String,
    /// Its vendor and product numbers.
    pub ids: (u16, u16),
    /// What it calls itself.
    pub product: Option<String>,
    /// Its serial number.
    pub serial: Option<String>,
    /// The number of the interface that carries the link.
    pub interface: u8,
}

/// The pods that are plugged in now.
///
/// # Errors
/// The system does not tell what is plugged in.
pub async fn plugged() -> io::Result<Vec<Plugged>> {
    let pods = devices().await?;
    Ok(pods.into_iter().map(|(pod, _)| pod).collect())
}

/// The same, each with what opens it.
pub(super) async fn devices() -> io::Result<Vec<(Plugged, DeviceInfo)>> {
    let devices = usb_host::devices().await?;
    let mut pods: Vec<_> = devices
        .into_iter()
        .filter_map(|device| Some((Plugged::of(&device)?, device)))
        .collect();
    pods.sort_by(|(one, _), (other, _)| one.port.cmp(&other.port));
    Ok(pods)
}

impl Plugged {
    /// The address that means this pod wherever it is plugged in. `None` if it has no serial number, or one that cannot
    /// stand in an address.
    #[must_use]
    pub fn address(&self) -> Option<String> {
        let address = format!("serial={}", self.serial.as_ref()?);
        Selector::parse(&address).map(|_| format!("{SCHEME}:{address}"))
    }

    /// Whether an address of any kind means this pod, perhaps among others.
    #[must_use]
    pub fn is_meant_by(&self, address: &str) -> bool {
        let (scheme, rest) = driver::parts(address);
        scheme == SCHEME && Selector::parse(rest).is_some_and(|selector| selector.means(self))
    }

    /// What a device is as a pod, if it is one.
    fn of(device: &DeviceInfo) -> Option<Self> {
        let interface = device.interfaces().find(|interface| {
            let found = (
                interface.class(),
                interface.subclass(),
                interface.protocol(),
            );
            found == INTERFACE
        })?;
        Some(Self {
            port: usb_host::port(device),
            ids: (device.vendor_id(), device.product_id()),
            product: device.product_string().map(str::to_owned),
            serial: device.serial_number().map(str::to_owned),
            interface: interface.interface_number(),
        })
    }

    #[cfg(test)]
    pub(super) fn example(port: &str, serial: Option<&str>) -> Self {
        Self {
            port: port.to_owned(),
            ids: (0x1209, 0x0001),
            product: None,
            serial: serial.map(str::to_owned),
            interface: 0,
        }
    }
}

/// Devices that were tried, by the number that each gets when it is plugged in.
#[derive(Debug, Default)]
pub(super) struct Tried(Mutex<Vec<DeviceId>>);

impl Tried {
    /// Puts those that were not tried first, so that one that never answers does not keep the others from their turn.
    /// Once all were tried, a new round begins.
    pub(super) fn order(&self, devices: &mut [(Plugged, DeviceInfo)]) {
        let mut tried = self.lock();
        let has = |tried: &[DeviceId], device: &DeviceInfo| tried.contains(&device.id());
        tried.retain(|id| devices.iter().any(|(_, device)| device.id() == *id));
        if devices.iter().all(|(_, device)| has(&tried, device)) {
            tried.clear();
        }
        devices.sort_by_key(|(_, device)| has(&tried, device));
    }

    pub(super) fn add(&self, device: DeviceId) {
        let mut tried = self.lock();
        if !tried.contains(&device) {
            tried.push(device);
        }
    }

    fn has(&self, device: DeviceId) -> bool {
        self.lock().contains(&device)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<DeviceId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells what is plugged in whenever that changes.
#[derive(Default)]
pub struct Watch {
    events: Option<HotplugWatch>,
    last: Vec<(Plugged, DeviceId)>,
}

impl Watch {
    /// Waits until something is plugged in that was not, and returns all that is.
    pub async fn next(&mut self) -> Vec<Plugged> {
        loop {
            // What cannot be listed now may be later.
            let found = devices().await.unwrap_or_default();
            let found: Vec<_> = found
                .into_iter()
                .map(|(pod, device)| (pod, device.id()))
                .collect();
            let is_news = self.last != found && !found.is_empty();
            self.last = found;
            if is_news {
                return self.last.iter().map(|(pod, _)| pod.clone()).collect();
            }
            change(&mut self.events).await;
        }
    }
}

/// Waits until a pod that is meant is there and was not tried.
pub(super) async fn arrival(selector: &Selector, tried: &Tried) {
    let mut events = None;
    loop {
        let found = devices().await.unwrap_or_default();
        let is_new =
            |(pod, device): &(Plugged, DeviceInfo)| selector.means(pod) && !tried.has(device.id());
        if found.iter().any(is_new) {
            return;
        }
        change(&mut events).await;
    }
}

/// Waits until something was plugged in or pulled out, or until it is time to look without being told.
async fn change(events: &mut Option<HotplugWatch>) {
    if events.is_none() {
        // Without events, looking is enough.
        *events = nusb::watch_devices().ok();
    }
    let told = async {
        match events {
            Some(events) => drop(events.next().await),
            None => std::future::pending().await,
        }
    };
    if tokio::time::timeout(LOOK_INTERVAL, told).await.is_ok() {
        // The kernel tells before udev has given the device to whom it belongs.
        tokio::time::sleep(LOOK_INTERVAL / 10).await;
    }
}
