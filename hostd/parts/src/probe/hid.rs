//! A CMSIS-DAP probe of the first version on USB: a human interface device with one packet in each report, filled up
//! with zeros.
//!
//! Its endpoints are used directly, and its driver in the kernel gives it up meanwhile. Through that driver
//! (`/dev/hidraw`) every program that has it open gets every report: the answer to another debugger would pass for one to
//! this side, since answers have no number, and firmware for verified that was never read.

use std::io;

use nusb::transfer::Interrupt;
use nusb::{DeviceId, DeviceInfo};
use pod_protocol::dap_frame::DAP_PACKET_BYTES_MAX;
use tokio::time::{Duration, timeout};

use super::{DAP_INFO, INFO_PACKET_SIZE};
use crate::usb::{Pipe, explained, still_there};

/// The smallest packet that a probe may have.
const PACKET_BYTES_MIN: usize = 64;

/// Time for the probe to say how long its packets are.
const ANSWER_MAX: Duration = Duration::from_secs(3);

/// A probe on USB.
pub(super) struct Hid {
    pipe: Pipe<Interrupt>,
    /// Bytes of a report, which are those of a packet.
    packet_bytes: usize,
    id: DeviceId,
    what: String,
}

impl std::fmt::Debug for Hid {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.what)
    }
}

impl Hid {
    /// Opens this interface of a device. The driver in the kernel has it again when this is dropped.
    pub(super) async fn open(what: String, device: &DeviceInfo, number: u8) -> io::Result<Self> {
        let told = |error| explained(&what, &error);
        let opened = device.open().await.map_err(told)?;
        let claiming = opened.detach_and_claim_interface(number);
        let pipe = Pipe::new(&what, &claiming.await.map_err(told)?, 1)?;
        let mut probe = Self {
            packet_bytes: pipe.packet_bytes(),
            pipe,
            id: device.id(),
            what,
        };
        probe.pipe.set_message_bytes(probe.packet_bytes);
        probe.pipe.forget_old().await?;
        probe.packet_bytes = probe.ask_packet_bytes().await?;
        probe.pipe.set_message_bytes(probe.packet_bytes);
        Ok(probe)
    }

    async fn ask_packet_bytes(&mut self) -> io::Result<usize> {
        self.send(&[DAP_INFO, INFO_PACKET_SIZE], ANSWER_MAX).await?;
        let answer = timeout(ANSWER_MAX, self.receive()).await;
        let silent = || io::Error::other(format!("{} does not answer", self.what));
        packet_bytes(&answer.map_err(|_| silent())??).ok_or_else(|| {
            io::Error::other(format!(
                "{} does not answer as CMSIS-DAP how long its packets are, {PACKET_BYTES_MIN} to {DAP_PACKET_BYTES_MAX} bytes",
                self.what
            ))
        })
    }

    /// Most bytes of a packet.
    pub(super) fn packet_bytes(&self) -> usize {
        self.packet_bytes
    }

    /// Whether it is still plugged in.
    pub(super) async fn look(&self) -> io::Result<()> {
        still_there(&self.what, self.id).await
    }

    /// Sends a packet, of which callers have checked the length.
    pub(super) async fn send(&mut self, packet: &[u8], wait: Duration) -> io::Result<()> {
        self.pipe.expect();
        // Without the number of the report: there is one, and then it has none on the wire.
        let mut report = packet.to_vec();
        report.resize(self.packet_bytes.max(packet.len()), 0);
        // Its answer tells that the probe took it.
        self.pipe.post(&report, wait).await
    }

    /// Whether all packets could be sent, as far as that is known.
    pub(super) fn sent(&mut self) -> io::Result<()> {
        self.pipe.posted()
    }

    /// The next answer, with the zeros behind it: how long it is without them only its command tells.
    pub(super) async fn receive(&mut self) -> io::Result<Vec<u8>> {
        let mut answer = self.pipe.receive().await?;
        answer.truncate(self.packet_bytes);
        Ok(answer)
    }
}

/// How long packets are, by the answer to that question; `None` for any other.
fn packet_bytes(answer: &[u8]) -> Option<usize> {
    let [DAP_INFO, 2, low, high, ..] = *answer else {
        return None;
    };
    let bytes = usize::from(u16::from_le_bytes([low, high]));
    (PACKET_BYTES_MIN..=DAP_PACKET_BYTES_MAX)
        .contains(&bytes)
        .then_some(bytes)
}

/// Any bytes as the answer to how long packets are: within bounds, or none.
///
/// # Panics
/// If it is out of bounds.
pub(super) fn fuzz(bytes: &[u8]) {
    if let Some(bytes) = packet_bytes(bytes) {
        assert!((PACKET_BYTES_MIN..=DAP_PACKET_BYTES_MAX).contains(&bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_as_long_as_the_probe_says() {
        let padded = |start: &[u8]| [start, &[0; 60]].concat();
        for (answer, bytes) in [
            (padded(&[0, 2, 64, 0]), Some(64)),
            (vec![0, 2, 0, 2], Some(512)),
            (vec![0, 2, 0, 4], Some(1024)),
            (vec![0, 2, 63, 0], None),
            (vec![0, 2, 1, 4], None),
            (vec![0, 2, 64], None),
            (padded(&[0, 1, 64]), None),
            (padded(&[0xFF]), None),
            (Vec::new(), None),
        ] {
            assert_eq!(packet_bytes(&answer), bytes, "{answer:?}");
        }
    }
}
