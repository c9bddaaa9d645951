//! The end of leases: expiry by the clock, and what follows every end.

use std::sync::Arc;
use std::time::Duration;

use base::news::Kind;
use serde_json::json;
use tracing::{info, warn};

use super::Leases;

/// Longest sleep of the keeper; the wall clock of a suspended machine jumps.
const KEEPER_SLEEP: Duration = Duration::from_secs(5);

/// Shortest one, while an expired lease is being stored as such.
const KEEPER_PAUSE_MS: u64 = 100;

impl Leases {
    /// A lease is over: its debt is stored, then paid in the background. Called in the device's order.
    pub(super) async fn end(self: &Arc<Self>, device: &str, fence: u64) {
        if let Err(error) = self.write(device).await {
            // It is stored before anything else happens.
            warn!(device, %error, "failed to store that a lease is over");
        }
        let why = self
            .slots
            .with(device, |slot| slot.machine.debt().map(|debt| debt.why));
        info!(device, ?why, "lease over, the device is being made safe");
        let told = json!({"reason": why});
        self.devices.tell(Kind::LeaseEnded, device, device, told);
        self.settle_later(device, fence);
    }

    /// End the lease if it has expired. Called in the device's order.
    pub(super) async fn expire(self: &Arc<Self>, device: &str) {
        let now = self.now();
        let expired = self.slots.with(device, |slot| slot.machine.expire(now));
        if let Some(fence) = expired {
            self.end(device, fence).await;
        }
    }

    /// Ends leases as they expire, forever.
    pub(super) async fn keep(self: Arc<Self>) {
        loop {
            let now_ms = self.clock.steady_ms();
            let held = self.slots.each(|device, slot| {
                let expires_ms = slot.machine.expires_ms()?;
                Some((expires_ms, device.to_owned()))
            });
            let mut next_ms = now_ms + duration_ms(KEEPER_SLEEP);
            for (expires_ms, device) in held {
                if expires_ms > now_ms {
                    next_ms = next_ms.min(expires_ms);
                    continue;
                }
                let leases = self.clone();
                // One device that is slow to store does not hold up the others.
                tokio::spawn(async move {
                    let order = leases.order(&device);
                    let _order = order.lock().await;
                    leases.expire(&device).await;
                });
            }
            let sleep = Duration::from_millis(next_ms.saturating_sub(now_ms).max(KEEPER_PAUSE_MS));
            tokio::select! {
                () = tokio::time::sleep(sleep) => {}
                () = self.changed.notified() => {}
            }
        }
    }
}

fn duration_ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
