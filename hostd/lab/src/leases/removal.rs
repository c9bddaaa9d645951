//! Removing a device, and admitting it again: both go through its state machine, so that nobody
//! drives it meanwhile and nothing is left powered.

use std::sync::Arc;
use std::time::Duration;

use base::news::Kind;
use pods::PodState;
use serde_json::json;
use tracing::info;

use super::machine::Removal;
use super::{LeaseError, Leases, Why};

/// How long a removal waits for the safe state.
const REMOVE_WAIT: Duration = Duration::from_secs(20);

/// How long it waits to learn whether the pod answers.
const REACH_WAIT: Duration = Duration::from_secs(5);

/// What an administrator says with a removal.
#[derive(Debug, Clone, Default)]
pub struct Terms {
    /// The holder from whom the device may be taken.
    pub holder: Option<String>,
    /// Remove it even if it owes a safe state.
    pub overriding: bool,
}

impl Leases {
    /// Put a device into its safe state and remove it.
    ///
    /// # Errors
    /// Its holder is not the one named, it does not become safe in time, or the store fails.
    pub async fn remove(self: &Arc<Self>, device: &str, terms: Terms) -> Result<(), LeaseError> {
        let device = device.to_owned();
        self.finish(|leases| async move {
            let reachable = leases.is_reachable(&device).await;
            let order = leases.order(&device);
            let held = order.lock().await;
            leases.expire(&device).await;
            let was_held = leases.holder(&device).is_some();
            let now = leases.now();
            let removal = Removal {
                holder: terms.holder.as_deref(),
                overriding: terms.overriding,
                reachable,
            };
            let begun = leases
                .slots
                .with(&device, |slot| slot.machine.remove(removal, now));
            let fence = begun.map_err(LeaseError::Busy)?;
            info!(
                device,
                reachable,
                overriding = terms.overriding,
                "removing a device"
            );
            if was_held {
                let told = json!({"reason": Why::Removal});
                leases
                    .devices
                    .tell(Kind::LeaseEnded, &device, &device, told);
            }
            if leases.slots.with(&device, |slot| slot.machine.is_changed())
                && let Err(error) = leases.write(&device).await
            {
                leases.slots.with(&device, |slot| slot.machine.keep(fence));
                leases.settle_later(&device, fence);
                return Err(error.into());
            }
            drop(held);
            let moved = leases
                .slots
                .with(&device, |slot| slot.visitors.moved(fence));
            leases.settle_later(&device, fence);
            // The machine knows how far it got.
            let _ = tokio::time::timeout(REMOVE_WAIT, moved).await;
            let _held = order.lock().await;
            let now_ms = leases.clock.steady_ms();
            leases.slots.with(&device, |slot| {
                if slot.machine.is_gone() {
                    return Ok(());
                }
                slot.machine.keep(fence);
                Err(LeaseError::Busy(slot.machine.busy(None, now_ms)))
            })
        })
        .await
    }

    /// Admit an organisation's removed device again: the one with this id, else the newest removed
    /// one with this name or address. Returns its id.
    ///
    /// # Errors
    /// There is none, its name or pod now belongs to another device, or the store fails.
    pub async fn admit_again(
        self: &Arc<Self>,
        org: &str,
        which: &str,
    ) -> Result<String, LeaseError> {
        let (org, which) = (org.to_owned(), which.to_owned());
        self.finish(|leases| async move {
            let device = leases.devices.admit_again(&org, &which).await?;
            leases.slots.with(&device, |slot| {
                slot.machine.admitted();
                // On this side it is a new pod object.
                slot.link = None;
            });
            Ok(device)
        })
        .await
    }

    async fn is_reachable(&self, device: &str) -> bool {
        let Some(pod) = self.devices.pod_of(device) else {
            return false;
        };
        let mut states = pod.watch();
        let settled = states.wait_for(PodState::is_settled);
        match tokio::time::timeout(REACH_WAIT, settled).await {
            Ok(Ok(state)) => state.is_online(),
            _ => false,
        }
    }
}
