//! Follows what is plugged into USB.

use std::sync::Arc;

use base::config::UsbPolicy;
use lab::devices::Devices;
use pods::usb::Watch;
use tracing::warn;

/// Makes devices of the pods that are plugged in, as the policy has it, for ever.
pub async fn follow(devices: Arc<Devices>, org: String, policy: UsbPolicy) {
    if policy == UsbPolicy::Listed {
        return;
    }
    let mut watch = Watch::default();
    loop {
        for pod in watch.next().await {
            if let Err(error) = devices.found_on_usb(&org, &pod, policy).await {
                warn!(port = pod.port, serial = pod.serial, %error, "failed to take in a pod on USB");
            }
        }
    }
}
