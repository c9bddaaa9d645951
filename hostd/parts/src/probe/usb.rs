//! A CMSIS-DAP v2 probe on USB: known by the name of its interface, one packet in each bulk transfer.

use std::io;

use nusb::DeviceId;
use pod_protocol::dap_frame::DAP_PACKET_BYTES_MAX;
use pod_protocol::usb::CMSIS_DAP_NAME;
use tokio::time::Duration;

use crate::place::UsbId;
use crate::usb::{Pipe, explained, find};

/// Class of the interface of a CMSIS-DAP v2 probe; those of the first version are HID.
pub(crate) const VENDOR_CLASS: u8 = 0xFF;

/// A probe on USB.
pub(super) struct Usb {
    pipe: Pipe,
    id: DeviceId,
    what: String,
}

impl std::fmt::Debug for Usb {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.what)
    }
}

impl Usb {
    pub(super) async fn open(id: &UsbId) -> io::Result<Self> {
        let what = format!("the probe {id}");
        let device = find(&what, |device| id.means(device)).await?;
        let mut interfaces = device.interfaces();
        let interface = interfaces.find(|found| {
            let name = found.interface_string().unwrap_or_default();
            found.class() == VENDOR_CLASS && name.contains(CMSIS_DAP_NAME)
        });
        let number = interface.map(nusb::InterfaceInfo::interface_number).ok_or_else(|| {
            io::Error::other(format!(
                "{what} has no CMSIS-DAP v2 interface; one of the first version (HID) needs newer firmware"
            ))
        })?;
        let told = |error| explained(&what, &error);
        let opened = device.open().await.map_err(told)?;
        let claimed = opened.claim_interface(number).await.map_err(told)?;
        let pipe = Pipe::new(&what, &claimed, DAP_PACKET_BYTES_MAX)?;
        Ok(Self {
            pipe,
            id: device.id(),
            what,
        })
    }

    /// Whether it is still plugged in.
    pub(super) async fn look(&self) -> io::Result<()> {
        find(&self.what, |device| device.id() == self.id)
            .await
            .map(drop)
    }

    pub(super) async fn send(&mut self, packet: &[u8], wait: Duration) -> io::Result<()> {
        self.pipe.expect();
        self.pipe.send(packet, wait).await
    }

    pub(super) async fn receive(&mut self) -> io::Result<Vec<u8>> {
        self.pipe.receive().await
    }
}
