//! Analyzers that are plugged in, and opening one.

use std::io;

use nusb::{DeviceId, DeviceInfo, ErrorKind, Interface};

use super::model::{Model, is_running};
use crate::error::AcquireError;

/// The interface that carries the samples.
const INTERFACE: u8 = 0;

/// The error of the system for what does not exist (ENOENT).
const NO_ENTRY: u32 = 2;

/// An analyzer that is plugged in.
#[derive(Debug, Clone)]
pub(super) struct Plugged {
    /// Where, as the kernel names it.
    pub(super) port: String,
    pub(super) model: &'static Model,
    /// It runs the firmware.
    pub(super) is_running: bool,
    /// Another one each time it is plugged in.
    pub(super) id: DeviceId,
    pub(super) device: DeviceInfo,
}

/// Whether this names a port: bus, then the chain of ports, `1-2.3`.
pub(super) fn is_port(text: &str) -> bool {
    let is_number = |part: &str| part.parse::<u8>().is_ok_and(|number| number > 0);
    text.split_once('-')
        .is_some_and(|(bus, chain)| is_number(bus) && chain.split('.').all(is_number))
}

/// The analyzer on a port, or the first one.
///
/// # Errors
/// There is none, or the system does not tell.
pub(super) async fn find(port: Option<&str>) -> Result<Plugged, AcquireError> {
    let mut all = all().await?;
    all.retain(|found| port.is_none_or(|port| found.port == port));
    let what = match port {
        Some(port) => format!("a logic analyzer with an FX2 on USB port {port}"),
        None => "a logic analyzer with an FX2".to_owned(),
    };
    let check = "`port`";
    all.into_iter()
        .next()
        .ok_or(AcquireError::NoDevice { what, check })
}

/// All of them, by their ports.
pub(super) async fn all() -> Result<Vec<Plugged>, AcquireError> {
    let devices = match nusb::list_devices().await {
        // This machine has no USB.
        Err(error) if error.os_error() == Some(NO_ENTRY) => return Ok(Vec::new()),
        devices => {
            devices.map_err(|error| failed("list what is plugged into USB", error.into()))?
        }
    };
    let mut all: Vec<_> = devices.filter_map(Plugged::of).collect();
    all.sort_by(|one, other| one.port.cmp(&other.port));
    Ok(all)
}

impl Plugged {
    fn of(device: DeviceInfo) -> Option<Self> {
        let model = Model::of((device.vendor_id(), device.product_id()))?;
        let chain: Vec<String> = device.port_chain().iter().map(u8::to_string).collect();
        let bus = device.bus_id().trim_start_matches('0');
        Some(Self {
            port: format!("{bus}-{}", chain.join(".")),
            model,
            is_running: is_running(device.manufacturer_string(), device.product_string()),
            id: device.id(),
            device,
        })
    }

    /// What messages call it.
    pub(super) fn name(&self) -> String {
        format!("the analyzer on USB port {}", self.port)
    }

    /// What an error of the system means for it.
    pub(super) fn explained(&self, what: &str, error: nusb::Error) -> AcquireError {
        let name = self.name();
        match error.kind() {
            ErrorKind::PermissionDenied => AcquireError::NotPermitted { what: name },
            ErrorKind::Busy => AcquireError::Busy { what: name },
            ErrorKind::Disconnected | ErrorKind::NotFound => AcquireError::Unplugged { what: name },
            _ => failed(&format!("{what} {name}"), error.into()),
        }
    }
}

/// Opens an analyzer that runs the firmware, for this program alone.
pub(super) async fn open(found: &Plugged) -> Result<Interface, AcquireError> {
    let explained = |error| found.explained("open", error);
    let device = found.device.open().await.map_err(explained)?;
    // A driver of the kernel that takes bare chips for its own tests gives them up.
    device
        .detach_and_claim_interface(INTERFACE)
        .await
        .map_err(explained)
}

pub(super) fn failed(what: &str, source: io::Error) -> AcquireError {
    AcquireError::Io {
        what: what.to_owned(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_as_the_kernel_names_them() {
        for port in ["1-1", "2-1.4.3"] {
            assert!(is_port(port), "{port}");
        }
        for wrong in [
            "", "1", "1-", "-1", "1-0", "0-1", "1-2.", "1-300", "../1-2", "1-1 ",
        ] {
            assert!(!is_port(wrong), "{wrong}");
        }
    }

    #[tokio::test]
    async fn a_port_without_an_analyzer_is_said() {
        let error = find(Some("99-9")).await.unwrap_err().to_string();
        assert!(
            error.contains("on USB port 99-9") && error.contains("check `port`"),
            "{error}"
        );
    }
}
