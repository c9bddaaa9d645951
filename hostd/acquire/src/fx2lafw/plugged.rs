//! Analyzers that are plugged in, and opening one.

use std::io;
use std::time::Duration;

use nusb::transfer::TransferError;
use nusb::{DeviceId, DeviceInfo, ErrorKind, Interface};
use tokio::time::{Instant, sleep};
use usb_host::{devices, port};

use super::model::{Model, is_running};
use crate::error::AcquireError;

/// The interface that carries the samples.
const INTERFACE: u8 = 0;

/// How soon the system tells that a device has left. Before that, transfers to it fail for other reasons, or not at all.
const LEFT_WITHIN: Duration = Duration::from_millis(500);

/// How often is looked whether one has left, or has come.
pub(super) const LOOK_INTERVAL: Duration = Duration::from_millis(50);

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
    let all = devices().await;
    let all = all.map_err(|error| failed("list what is plugged into USB", error))?;
    let mut all: Vec<_> = all.into_iter().filter_map(Plugged::of).collect();
    all.sort_by(|one, other| one.port.cmp(&other.port));
    Ok(all)
}

impl Plugged {
    fn of(device: DeviceInfo) -> Option<Self> {
        let model = Model::of((device.vendor_id(), device.product_id()))?;
        Some(Self {
            port: port(&device),
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

    /// Whether it is no longer there, or is not a moment later.
    pub(super) async fn has_left(&self) -> bool {
        let began = Instant::now();
        loop {
            match all().await {
                Ok(all) if all.iter().all(|found| found.id != self.id) => return true,
                _ if LEFT_WITHIN < began.elapsed() => return false,
                _ => sleep(LOOK_INTERVAL).await,
            }
        }
    }

    /// That it was pulled out.
    pub(super) fn unplugged(&self) -> AcquireError {
        AcquireError::Unplugged { what: self.name() }
    }

    /// What it means that a transfer failed: as long as the system has not noticed that it was pulled out, that may look
    /// like anything.
    pub(super) async fn broken(&self, what: &str, error: TransferError) -> AcquireError {
        match error {
            TransferError::Disconnected => self.unplugged(),
            _ if self.has_left().await => self.unplugged(),
            error => failed(&format!("{what} {}", self.name()), error.into()),
        }
    }

    /// What an error of the system means for it.
    pub(super) fn explained(&self, what: &str, error: nusb::Error) -> AcquireError {
        let name = self.name();
        match error.kind() {
            ErrorKind::PermissionDenied => AcquireError::NotPermitted { what: name },
            ErrorKind::Busy => AcquireError::Busy { what: name },
            ErrorKind::Disconnected | ErrorKind::NotFound => self.unplugged(),
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

    #[tokio::test]
    async fn a_port_without_an_analyzer_is_said() {
        let error = find(Some("99-9")).await.unwrap_err().to_string();
        assert!(
            error.contains("on USB port 99-9") && error.contains("check `port`"),
            "{error}"
        );
    }
}
