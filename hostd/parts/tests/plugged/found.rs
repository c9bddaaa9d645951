//! Waiting for what the kernel and a bench make of a device.

use tokio::time::{Instant, sleep};

use super::*;

/// The name of the port that a device is plugged into, once the kernel has found it. One of the same kind that the test
/// before has unplugged may still be listed on another.
pub(crate) async fn place(plugged: &Attached, ids: (u16, u16)) -> String {
    let until = Instant::now() + PATIENCE;
    loop {
        let mut devices = nusb::list_devices().await.unwrap();
        let found = devices.find(|device| {
            // The kernel counts ports from 1, the controller from 0.
            let is_there =
                matches!(device.port_chain(), [port] if u32::from(*port) == plugged.port() + 1);
            is_there && (device.vendor_id(), device.product_id()) == ids
        });
        if let Some(device) = found {
            let bus = device.bus_id().trim_start_matches('0');
            return format!("{bus}-{}", plugged.port() + 1);
        }
        assert!(
            Instant::now() < until,
            "the kernel does not find {ids:04x?}"
        );
        sleep(Duration::from_millis(10)).await;
    }
}

/// Waits until something is so.
pub(crate) async fn until(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !is_so().await {
        assert!(Instant::now() < until, "not {what}");
        sleep(Duration::from_millis(20)).await;
    }
}
