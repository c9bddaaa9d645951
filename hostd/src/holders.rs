//! Tells pods that dial in who holds them, so that nobody beside them interferes meanwhile.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use pods::dial::Lease;
use pods::protocol::dial::SCHEME;
use tokio::time::Instant;

use crate::services::Services;

/// Follows the leases of all devices, for ever.
pub async fn follow(services: Arc<Services>) {
    let mut changes = services.leases.changes();
    let mut told: HashMap<String, (String, u64)> = HashMap::new();
    loop {
        changes.borrow_and_update();
        let mut held = HashMap::new();
        for device in services.devices.all() {
            if device.transport != SCHEME {
                continue;
            }
            let now = services.leases.holder(&device.id);
            if now.as_ref() != told.get(&device.id) {
                let lease = now.clone().map(|(holder, expires_ms)| Lease {
                    holder,
                    until: Instant::now() + left(expires_ms, services.clock.now_ms()),
                });
                services.dialled.tell_lease(&device.public_key, lease);
            }
            if let Some(now) = now {
                held.insert(device.id, now);
            }
        }
        told = held;
        if changes.changed().await.is_err() {
            return;
        }
    }
}

fn left(expires_ms: u64, now_ms: u64) -> Duration {
    Duration::from_millis(expires_ms.saturating_sub(now_ms))
}
