//! What is plugged in that a bench could be made of: probes, serial ports, analyzers, instruments, hubs that switch
//! their ports, GPIO chips. Nothing is taken from whoever uses it; only hubs and chips are opened, to ask them.

mod chips;
mod ports;

use std::io;
use std::path::PathBuf;

use nusb::DeviceInfo;
use tokio::task::spawn_blocking;
use usb_host::port;

use crate::address::{Address, UsbId};
use crate::power::{HUB_CLASS, USBTMC, switching};
use crate::probe;

pub use crate::chip::Usb;
pub use crate::probe::{Family, IS_SUPPORTED as HAS_VENDOR_PROBES};
pub use chips::{GpioChip, GpioLine};

/// All that is plugged in.
#[derive(Debug, Clone, Default)]
pub struct Plugged {
    /// Devices on USB, by their ports.
    pub devices: Vec<UsbDevice>,
    /// Serial ports with a name that stays, by that name.
    pub ports: Vec<SerialPort>,
    /// GPIO chips, by name.
    pub chips: Vec<GpioChip>,
}

/// A device on USB, as the system lists it.
#[derive(Debug, Clone)]
pub struct UsbDevice {
    /// Where it is plugged in, as the kernel names it: `1-2.3`.
    pub port: String,
    /// Its vendor and product numbers.
    pub ids: (u16, u16),
    /// What it calls itself.
    pub product: Option<String>,
    /// Its serial number.
    pub serial: Option<String>,
    /// Its interfaces.
    pub interfaces: Vec<Interface>,
    /// Whether it switches its ports; `None` if it is no hub.
    pub switching: Option<Switching>,
}

/// An interface of a device.
#[derive(Debug, Clone)]
pub struct Interface {
    /// Its class and subclass.
    pub class: (u8, u8),
    /// What it calls itself.
    pub name: String,
}

/// Whether a hub switches its ports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Switching {
    /// It says that it switches each of so many.
    EachPort(u8),
    /// It does not, or only all at once.
    No,
    /// It could not be asked, and why.
    Unknown(String),
}

/// A serial port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SerialPort {
    /// Its name that stays, below `/dev/serial/by-id`.
    pub path: PathBuf,
    /// The device file behind it.
    pub device: PathBuf,
    /// The USB port of the device that it is part of.
    pub usb_port: Option<String>,
}

/// What a device can be in a bench.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A CMSIS-DAP probe.
    Probe,
    /// A probe with a protocol of its own and no CMSIS-DAP, for which a build needs drivers.
    VendorProbe(Family),
    /// An analyzer for the firmware fx2lafw, and what people call it.
    Analyzer(&'static str),
    /// An instrument that takes commands over USBTMC: a supply, or something else.
    Instrument,
    /// A hub.
    Hub,
}

/// What is plugged in now.
///
/// # Errors
/// The system does not tell.
pub async fn plugged() -> io::Result<Plugged> {
    let mut devices = Vec::new();
    for info in usb_host::devices().await? {
        let hub = (info.class() == HUB_CLASS).then_some(&info);
        let switching = match hub {
            Some(hub) => Some(switching(hub).await),
            None => None,
        };
        devices.push(UsbDevice::of(&info, switching));
    }
    devices.sort_by(|one, other| one.port.cmp(&other.port));
    // The chips may take their time.
    let chips = spawn_blocking(chips::all).await;
    Ok(Plugged {
        devices,
        ports: ports::all()?,
        chips: chips.map_err(io::Error::other)??,
    })
}

impl UsbDevice {
    pub(crate) fn of(info: &DeviceInfo, switching: Option<Switching>) -> Self {
        let interfaces = info.interfaces().map(|interface| Interface {
            class: (interface.class(), interface.subclass()),
            name: interface.interface_string().unwrap_or_default().to_owned(),
        });
        Self {
            port: port(info),
            ids: (info.vendor_id(), info.product_id()),
            product: info.product_string().map(str::to_owned),
            serial: info.serial_number().map(str::to_owned),
            interfaces: interfaces.collect(),
            switching,
        }
    }

    /// What it can be in a bench. `None` for everything else that is on USB.
    #[must_use]
    pub fn kind(&self) -> Option<Kind> {
        if self.switching.is_some() {
            return Some(Kind::Hub);
        }
        let interfaces = self.interfaces.iter();
        let told = interfaces.map(|found| (found.class.0, found.name.as_str()));
        if probe::interface(self.product.as_deref(), told).is_some() {
            return Some(Kind::Probe);
        }
        if let Some(family) = Family::of(self.ids) {
            return Some(Kind::VendorProbe(family));
        }
        if let Some(name) = acquire::Fx2lafw::model(self.ids) {
            return Some(Kind::Analyzer(name));
        }
        let is_instrument = self.interfaces.iter().any(|found| found.class == USBTMC);
        is_instrument.then_some(Kind::Instrument)
    }

    /// The address that means it, by its serial number if it has one.
    #[must_use]
    pub fn address(&self) -> String {
        let serial = self.serial.as_deref().filter(|serial| !serial.is_empty());
        Address::Usb(UsbId::new(self.ids, serial)).to_string()
    }

    /// Whether an address means it, perhaps among others.
    #[must_use]
    pub fn is_meant_by(&self, address: &str) -> bool {
        // An address on USB has no port, so any will do.
        let parsed = Address::parse(address, 1);
        matches!(parsed, Some(Address::Usb(id)) if id.is(self.ids, self.serial.as_deref()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(ids: (u16, u16), product: &str, interfaces: &[(u8, u8, &str)]) -> UsbDevice {
        UsbDevice {
            port: "1-2".to_owned(),
            ids,
            product: Some(product.to_owned()),
            serial: Some("S:1".to_owned()),
            interfaces: interfaces
                .iter()
                .map(|(class, subclass, name)| Interface {
                    class: (*class, *subclass),
                    name: (*name).to_owned(),
                })
                .collect(),
            switching: None,
        }
    }

    #[test]
    fn devices_are_told_by_what_they_are() {
        let both = [
            (3, 0, "CMSIS-DAP v1"),
            (0xFF, 0, "X CMSIS-DAP v2"),
            (2, 2, ""),
        ];
        for (found, kind) in [
            (device((1, 2), "DAPLink", &both), Some(Kind::Probe)),
            (device((1, 2), "DAPLink CMSIS-DAP", &both[2..]), None),
            (
                device((1, 2), "DAPLink CMSIS-DAP", &[(3, 0, "")]),
                Some(Kind::Probe),
            ),
            (device((1, 2), "DAPLink", &both[..1]), Some(Kind::Probe)),
            (device((1, 2), "keyboard", &[(3, 1, "")]), None),
            (
                device((0x0925, 0x3881), "", &[(0xFF, 0xFF, "")]),
                Some(Kind::Analyzer("Saleae Logic or a clone")),
            ),
            (
                device((1, 2), "PSU", &[(0xFE, 3, "")]),
                Some(Kind::Instrument),
            ),
            // Firmware update, of the same class.
            (device((1, 2), "DFU", &[(0xFE, 1, "")]), None),
        ] {
            assert_eq!(found.kind(), kind, "{found:?}");
        }
        let mut hub = device((0x05e3, 0x0608), "hub", &[(9, 0, "")]);
        hub.switching = Some(Switching::No);
        assert_eq!(hub.kind(), Some(Kind::Hub));
    }

    #[test]
    fn the_address_of_a_device_means_it() {
        let mut found = device((0x2e8a, 0x000c), "Debug Probe", &[]);
        assert_eq!(found.address(), "usb:2e8a:000c:S:1");
        for (address, is_meant) in [
            ("usb:2e8a:000c:S:1", true),
            ("usb:2E8A:000C", true),
            ("usb:2e8a:000c:S", false),
            ("usb:2e8a:000d", false),
            ("tcp:probe", false),
            ("usb", false),
        ] {
            assert_eq!(found.is_meant_by(address), is_meant, "{address}");
        }
        found.serial = None;
        assert_eq!(found.address(), "usb:2e8a:000c");
        assert!(found.is_meant_by("usb:2e8a:000c") && !found.is_meant_by("usb:2e8a:000c:S:1"));
    }

    #[tokio::test]
    async fn looking_works_also_where_there_is_no_usb() {
        plugged().await.unwrap();
    }
}
