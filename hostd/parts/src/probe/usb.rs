//! A CMSIS-DAP v2 probe on USB: one packet in each bulk transfer.

use std::io;

use nusb::{DeviceId, DeviceInfo};
use pod_protocol::dap_frame::DAP_PACKET_BYTES_MAX;
use tokio::time::Duration;

use crate::usb::{Pipe, explained, still_there};

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
    /// Opens this interface of a device.
    pub(super) async fn open(what: String, device: &DeviceInfo, number: u8) -> io::Result<Self> {
        let told = |error| explained(&what, &error);
        let opened = device.open().await.map_err(told)?;
        let claimed = opened.claim_interface(number).await.map_err(told)?;
        let mut pipe = Pipe::new(&what, &claimed, DAP_PACKET_BYTES_MAX)?;
        pipe.forget_old().await?;
        Ok(Self {
            pipe,
            id: device.id(),
            what,
        })
    }

    /// Whether it is still plugged in.
    pub(super) async fn look(&self) -> io::Result<()> {
        still_there(&self.what, self.id).await
    }

    pub(super) async fn send(&mut self, packet: &[u8], wait: Duration) -> io::Result<()> {
        self.pipe.expect();
        // Its answer tells that the probe took it.
        self.pipe.post(packet, wait).await
    }

    /// Whether all packets could be sent, as far as that is known.
    pub(super) fn sent(&mut self) -> io::Result<()> {
        self.pipe.posted()
    }

    pub(super) async fn receive(&mut self) -> io::Result<Vec<u8>> {
        self.pipe.receive().await
    }
}
