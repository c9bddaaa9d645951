//! A program that uses the interface of the link without speaking its language.

use std::time::Instant;

use nusb::Interface;
use nusb::transfer::{Bulk, In, Out};
use tokio::io::AsyncWriteExt;

use super::PATIENCE;

/// A claimed interface with bulk endpoints both ways.
pub(crate) struct Raw {
    pub(crate) interface: Interface,
}

/// Claims the first interface of the simulated pod, once it is there.
pub(crate) async fn claim() -> Raw {
    let began = Instant::now();
    loop {
        if let Some(raw) = try_claim().await {
            return raw;
        }
        assert!(began.elapsed() < PATIENCE, "the device does not come");
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
}

async fn try_claim() -> Option<Raw> {
    let mut devices = nusb::list_devices().await.unwrap();
    let found = devices.find(|device| (device.vendor_id(), device.product_id()) == (0x1209, 1))?;
    let device = found.open().await.ok()?;
    let interface = device.claim_interface(0).await.ok()?;
    Some(Raw { interface })
}

impl Raw {
    /// Sends bytes as one transfer.
    pub(crate) async fn write(&mut self, bytes: &[u8]) {
        let endpoint = self.interface.endpoint::<Bulk, Out>(0x01).unwrap();
        let mut writer = endpoint.writer(64 * 1024);
        writer.write_all(bytes).await.unwrap();
        writer.flush().await.unwrap();
    }

    /// What reads a stream of bytes.
    pub(crate) fn reader(&self) -> nusb::io::EndpointRead<Bulk> {
        let endpoint = self.interface.endpoint::<Bulk, In>(0x81).unwrap();
        endpoint.reader(64 * 1024).with_num_transfers(8)
    }

    /// What writes a stream of bytes.
    pub(crate) fn writer(&self) -> nusb::io::EndpointWrite<Bulk> {
        let endpoint = self.interface.endpoint::<Bulk, Out>(0x01).unwrap();
        endpoint.writer(64 * 1024).with_num_transfers(8)
    }
}
