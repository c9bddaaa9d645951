//! A port of a USB hub that switches its ports, by the requests that every hub class device has.

use std::io;
use std::time::Duration;

use nusb::transfer::{ControlIn, ControlOut, ControlType, Recipient};
use nusb::{Device, DeviceInfo};
use usb_host::{is_port, port};

use super::source::Trouble;
use crate::scan::Switching;
use crate::usb::{explained, find};

const GET_STATUS: u8 = 0;
const GET_DESCRIPTOR: u8 = 6;
const CLEAR_FEATURE: u8 = 1;
const SET_FEATURE: u8 = 3;
const PORT_POWER: u16 = 8;

/// The bit of a port's status that says whether it has power, on hubs of USB 2 and, elsewhere, of USB 3.
const POWER_BIT: u16 = 1 << 8;
const POWER_BIT_SUPER: u16 = 1 << 9;

/// Highest number of a port.
const PORTS_MAX: u8 = 127;

const TIMEOUT: Duration = Duration::from_secs(2);

/// Which port.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    hub: String,
    port: u8,
}

impl Plan {
    pub(super) fn new(hub: &str, port: u8) -> Result<Self, String> {
        if !is_port(hub) {
            return Err(format!(
                "power.hub `{hub}` is not of the form <bus>-<port>[.<port>…], such as 1-1"
            ));
        }
        if !(1..=PORTS_MAX).contains(&port) {
            return Err(format!("power.port must be 1 to {PORTS_MAX}"));
        }
        let hub = hub.to_owned();
        Ok(Self { hub, port })
    }
}

/// A hub that is open.
pub(super) struct Hub {
    device: Device,
    port: u8,
    is_super: bool,
    /// For messages.
    what: String,
}

impl std::fmt::Debug for Hub {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.what)
    }
}

impl Hub {
    pub(super) async fn open(plan: &Plan) -> io::Result<Self> {
        let what = format!("the hub {}", plan.hub);
        let info = find(&what, |device| port(device) == plan.hub).await?;
        if info.class() != HUB_CLASS {
            return Err(io::Error::other(format!(
                "the device on USB port {} is no hub",
                plan.hub
            )));
        }
        let is_super = info.usb_version() >= 0x0300;
        let device = info
            .open()
            .await
            .map_err(|error| explained(&what, &error))?;
        let port = plan.port;
        Ok(Self {
            device,
            port,
            is_super,
            what,
        })
    }

    pub(super) async fn is_on(&mut self) -> Result<bool, Trouble> {
        let status = ControlIn {
            control_type: ControlType::Class,
            recipient: Recipient::Other,
            request: GET_STATUS,
            value: 0,
            index: u16::from(self.port),
            length: 4,
        };
        let told = self.device.control_in(status, TIMEOUT).await;
        let told = told.map_err(|error| self.refused("tell", &error))?;
        has_power(&told, self.is_super).ok_or_else(|| {
            Trouble::Away(format!("{} tells nothing of port {}", self.what, self.port))
        })
    }

    pub(super) async fn switch(&mut self, on: bool) -> Result<(), Trouble> {
        let set = ControlOut {
            control_type: ControlType::Class,
            recipient: Recipient::Other,
            request: if on { SET_FEATURE } else { CLEAR_FEATURE },
            value: PORT_POWER,
            index: u16::from(self.port),
            data: &[],
        };
        let done = self.device.control_out(set, TIMEOUT).await;
        done.map_err(|error| self.refused("switch", &error))?;
        if self.is_on().await? == on {
            return Ok(());
        }
        Err(Trouble::Refused(format!(
            "{} does not switch port {}: it has no switch there",
            self.what, self.port
        )))
    }

    fn refused(&self, what: &str, error: &nusb::transfer::TransferError) -> Trouble {
        Trouble::Away(format!(
            "{} did not {what} port {}: {error}",
            self.what, self.port
        ))
    }
}

/// Kinds of descriptors of hubs, on USB 2 and on USB 3.
const HUB_DESCRIPTOR: u8 = 0x29;
const HUB_DESCRIPTOR_SUPER: u8 = 0x2A;

/// Longest descriptor of a hub.
const DESCRIPTOR_BYTES: u16 = 71;

/// The bits of a hub's characteristics that say how it switches power, and what they are if it is each port by itself.
const SWITCHING_BITS: u16 = 0b11;
const SWITCHES_EACH: u16 = 0b01;

/// Class of hubs.
pub(crate) const HUB_CLASS: u8 = 9;

/// Asks a hub whether it switches its ports.
pub(crate) async fn switching(info: &DeviceInfo) -> Switching {
    let unknown = |error: nusb::Error| {
        let hub = format!("the hub {}", port(info));
        Switching::Unknown(explained(&hub, &error).to_string())
    };
    let kind = if info.usb_version() >= 0x0300 {
        HUB_DESCRIPTOR_SUPER
    } else {
        HUB_DESCRIPTOR
    };
    let request = ControlIn {
        control_type: ControlType::Class,
        recipient: Recipient::Device,
        request: GET_DESCRIPTOR,
        value: u16::from(kind) << 8,
        index: 0,
        length: DESCRIPTOR_BYTES,
    };
    let device = match info.open().await {
        Ok(device) => device,
        Err(error) => return unknown(error),
    };
    match device.control_in(request, TIMEOUT).await {
        Ok(told) => told_switching(kind, &told),
        Err(error) => Switching::Unknown(format!("it does not tell: {error}")),
    }
}

/// What the descriptor of a hub says.
pub(super) fn told_switching(kind: u8, descriptor: &[u8]) -> Switching {
    match descriptor {
        [_, found, ports, low, high, ..] if *found == kind => {
            match u16::from_le_bytes([*low, *high]) & SWITCHING_BITS {
                SWITCHES_EACH if *ports > 0 => Switching::EachPort(*ports),
                _ => Switching::No,
            }
        }
        _ => Switching::Unknown("its descriptor is malformed".to_owned()),
    }
}

/// Whether the status of a port says that it has power.
fn has_power(status: &[u8], is_super: bool) -> Option<bool> {
    let status = u16::from_le_bytes(*status.first_chunk::<2>()?);
    let bit = if is_super { POWER_BIT_SUPER } else { POWER_BIT };
    Some(status & bit != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_named_as_the_kernel_does() {
        for good in ["1-1", "2-1.4.3"] {
            assert!(Plan::new(good, 3).is_ok(), "{good}");
        }
        for bad in ["", "1", "usb1", "1-", "0-1", "1-0", "1-1.", "../1-1"] {
            assert!(Plan::new(bad, 3).is_err(), "{bad}");
        }
        assert!(Plan::new("1-1", 0).is_err() && Plan::new("1-1", 128).is_err());
    }

    #[test]
    fn the_descriptor_tells_whether_ports_are_switched() {
        let told = |bytes: &[u8]| told_switching(HUB_DESCRIPTOR, bytes);
        assert_eq!(
            told(&[9, 0x29, 4, 0xE9, 0, 50, 100, 0, 0xFF]),
            Switching::EachPort(4)
        );
        // All at once; not at all.
        for characteristics in [0xE8, 0xEA, 0xEB] {
            assert_eq!(told(&[9, 0x29, 4, characteristics, 0]), Switching::No);
        }
        assert_eq!(told(&[9, 0x29, 0, 1, 0]), Switching::No);
        for malformed in [&[9, 0x2A, 4, 1, 0][..], &[9, 0x29, 4, 1], &[]] {
            assert!(matches!(told(malformed), Switching::Unknown(_)));
        }
    }

    #[test]
    fn the_power_of_a_port_has_its_bit() {
        assert_eq!(has_power(&[0x03, 0x01, 0, 0], false), Some(true));
        assert_eq!(has_power(&[0x03, 0x01, 0, 0], true), Some(false));
        assert_eq!(has_power(&[0xA0, 0x02, 0, 0], true), Some(true));
        assert_eq!(has_power(&[0, 0], false), Some(false));
        assert_eq!(has_power(&[1], false), None);
    }
}
