//! Leases: one consumer of a device at a time, identified by the lease it shows.
//!
//! The rules are in `machine`, one for each device; this is the part with clocks, a store and pods.
//! A lease is durable before its taker hears of it. When it ends, the safe state that the device
//! owes is stored before anything else happens, everything that it let in is cut off, and nobody
//! gets the device before its pod has acknowledged the safe state, however long that takes.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tracing::{info, warn};

use crate::devices::{DeviceError, Devices};
use base::clock::{self, Clock};
use base::config::LeasesConfig;
use base::news::Kind;
use serde_json::json;
use store::{Store, StoreError};

pub mod busy;
mod closed;
pub(crate) mod debt;
mod debts;
pub mod entry;
pub mod hold;
mod keeper;
pub(crate) mod machine;
pub(crate) mod payment;
mod queue;
mod removal;
mod safe;
mod slots;
mod stored;
mod view;
mod visitors;

pub use busy::Busy;
pub use closed::Closed;
pub use entry::{Beside, Caller, Entered, EntryError};
pub use hold::{Ask, Claim, HOLDER_CHARS_MAX, Held, PERSONS_LEASE, Shown, TTL_S};
pub use removal::Terms;
pub use store::leases::Why;
pub use visitors::Visit;

use machine::{Now, Release};
use safe::SafeState;
use slots::Slots;

/// How long a taker waits for those inside to leave; after that it must ask again.
const HANDOVER_WAIT: Duration = Duration::from_secs(8);

/// How long a release waits for the safe state; published clients wait 15 s for their answer.
const RELEASE_WAIT: Duration = Duration::from_secs(10);

/// All leases.
#[derive(Debug)]
pub struct Leases {
    slots: Arc<Slots>,
    store: Store,
    clock: Clock,
    devices: Arc<Devices>,
    safe: SafeState,
    /// Notified when the next expiry may have moved.
    changed: Notify,
    /// Changes with every lease and debt.
    turned: watch::Sender<()>,
}

/// Why a lease is not given or kept, or a device not removed.
#[derive(Debug, thiserror::Error)]
pub enum LeaseError {
    #[error("somebody else has the device")]
    Busy(Busy),
    #[error(transparent)]
    Device(#[from] DeviceError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A lease as its holder sees it.
#[derive(Debug, Clone)]
pub struct Granted {
    pub lease_id: String,
    pub holder: String,
    /// By the wall clock.
    pub expires_ms: u64,
}

/// How a release went.
#[derive(Debug, Clone)]
pub enum Released {
    /// The lease is over; whether the device is in its safe state by now.
    Over { safe: bool },
    /// It was over before, and another one holds the device.
    Other(Busy),
}

impl Leases {
    /// Restore the leases and debts that stood when the process ended, and manage them from now on.
    /// A lease that expired meanwhile owes its safe state.
    ///
    /// # Errors
    /// The store.
    pub async fn open(
        config: &LeasesConfig,
        store: Store,
        clock: Clock,
        devices: Arc<Devices>,
    ) -> Result<Arc<Self>, StoreError> {
        let leases = Arc::new(Self {
            slots: Arc::default(),
            store,
            clock,
            devices,
            safe: SafeState::new(config),
            changed: Notify::new(),
            turned: watch::Sender::new(()),
        });
        for record in leases.store.leases_all().await? {
            leases.restore(record).await?;
        }
        tokio::spawn(leases.clone().keep());
        Ok(leases)
    }

    /// Take a device, or renew the lease if the claimant already has it.
    ///
    /// # Errors
    /// Somebody else has it or is ahead in line, it is being made safe, or the store fails.
    pub async fn acquire(
        self: &Arc<Self>,
        device: &str,
        claim: Claim,
        ask: Ask,
    ) -> Result<Granted, LeaseError> {
        let device = device.to_owned();
        self.finish(|leases| async move {
            let order = leases.order(&device);
            let order = order.lock().await;
            leases.expire(&device).await;
            let link = leases.devices.pod_of(&device).map(|pod| pod.links());
            let now = leases.now();
            let (held, is_new) = leases.slots.with(&device, |slot| {
                let before = slot.machine.fence();
                let owed = slot.machine.debt().is_some();
                let held = slot.machine.acquire(claim, ask, now);
                let held = held.map_err(LeaseError::Busy)?;
                let is_new = held.fence != before;
                if is_new {
                    // Commands that an overridden debt has sent may arrive late.
                    slot.link = link.filter(|_| !owed);
                }
                Ok::<_, LeaseError>((held, is_new))
            })?;
            leases.changed.notify_one();
            if let Err(error) = leases.write(&device).await {
                // A debt that was to be overridden stands again.
                leases.settle_later(&device, leases.fence(&device));
                return Err(error.into());
            }
            // Other changes do not wait for tunnels.
            drop(order);
            if is_new {
                info!(
                    device,
                    holder = held.claim.holder,
                    overriding = ask.overriding,
                    "lease taken"
                );
                leases.tell_taken(&device, &held);
                leases.hand_over(&device, held.fence).await;
            }
            leases.check_given(&device, held.fence)?;
            Ok(leases.granted(&held))
        })
        .await
    }

    /// Anyone who drives the device without a lease must stop now.
    async fn hand_over(self: &Arc<Self>, device: &str, fence: u64) {
        let (leases, of) = (self.clone(), device.to_owned());
        let cleared = tokio::spawn(async move { leases.settle(&of, fence).await });
        // It continues in the background if it takes longer.
        if tokio::time::timeout(HANDOVER_WAIT, cleared).await.is_err() {
            warn!(
                device,
                "those who drove the device without a lease do not leave"
            );
        }
    }

    /// # Errors
    /// The lease must not be used yet while those let in before it are still inside.
    fn check_given(&self, device: &str, fence: u64) -> Result<(), LeaseError> {
        let now_ms = self.clock.steady_ms();
        self.slots.with(device, |slot| {
            if slot.machine.is_given(fence) {
                return Ok(());
            }
            Err(LeaseError::Busy(Busy {
                holder: None,
                expires_ms: None,
                retry_after_ms: 1_000,
                ..slot.machine.busy(Some(1), now_ms)
            }))
        })
    }

    /// Renew a lease for `ttl_ms`.
    ///
    /// # Errors
    /// It is over, or the store fails.
    pub async fn renew(
        self: &Arc<Self>,
        device: &str,
        shown: Shown<'_>,
        ttl_ms: u64,
    ) -> Result<Granted, LeaseError> {
        let device = device.to_owned();
        let (lease_id, owner) = owned(shown);
        self.finish(|leases| async move {
            let order = leases.order(&device);
            let _order = order.lock().await;
            leases.expire(&device).await;
            let now = leases.now();
            let shown = Shown {
                lease_id: lease_id.as_deref(),
                owner: &owner,
            };
            let renewed = leases
                .slots
                .with(&device, |slot| slot.machine.renew(shown, ttl_ms, now));
            let held = renewed.map_err(LeaseError::Busy)?;
            leases.write(&device).await?;
            leases.changed.notify_one();
            Ok(leases.granted(&held))
        })
        .await
    }

    /// Give a device back, and wait a while for its safe state. A lease that is already over counts
    /// as released.
    ///
    /// # Errors
    /// Never the store's: a release that cannot be stored still counts.
    pub async fn release(
        self: &Arc<Self>,
        device: &str,
        shown: Shown<'_>,
    ) -> Result<Released, LeaseError> {
        let device = device.to_owned();
        let (lease_id, owner) = owned(shown);
        self.finish(|leases| async move {
            let order = leases.order(&device);
            let order = order.lock().await;
            leases.expire(&device).await;
            let now = leases.now();
            let shown = Shown {
                lease_id: lease_id.as_deref(),
                owner: &owner,
            };
            let release = leases
                .slots
                .with(&device, |slot| slot.machine.release(shown, now));
            match release {
                Release::Ended(fence) => {
                    leases.end(&device, fence).await;
                    drop(order);
                    Ok(leases.safe_soon(&device, fence).await)
                }
                Release::Over => Ok(leases.safety(&device)),
                Release::Other(busy) => Ok(Released::Other(busy)),
            }
        })
        .await
    }

    /// End the lease of the holder with this label, and wait a while for the safe state.
    ///
    /// # Errors
    /// The device is free, or somebody else holds it.
    pub async fn take_away(
        self: &Arc<Self>,
        device: &str,
        holder: &str,
    ) -> Result<Released, LeaseError> {
        let (device, holder) = (device.to_owned(), holder.to_owned());
        self.finish(|leases| async move {
            let order = leases.order(&device);
            let order = order.lock().await;
            leases.expire(&device).await;
            let now = leases.now();
            let taken = leases
                .slots
                .with(&device, |slot| slot.machine.take_away(&holder, now));
            let fence = taken.map_err(LeaseError::Busy)?;
            leases.end(&device, fence).await;
            drop(order);
            Ok(leases.safe_soon(&device, fence).await)
        })
        .await
    }

    /// Check whether a request that shows a lease, or none, may drive a device.
    ///
    /// # Errors
    /// Somebody else holds the device, or it is being made safe.
    pub fn admit(&self, device: &str, shown: Shown<'_>) -> Result<(), Busy> {
        let now_ms = self.clock.steady_ms();
        let admit = |slot: &mut slots::Slot| slot.machine.admit(shown, now_ms);
        self.slots.with(device, admit).map(|_| ())
    }

    /// Let a request that shows a lease, or none, drive a device. The visit signals when it must end,
    /// and the device is not handed over until it has.
    ///
    /// # Errors
    /// Somebody else holds the device, or it is being made safe.
    pub(crate) fn visit(&self, device: &str, shown: Shown<'_>) -> Result<Visit, Busy> {
        let now_ms = self.clock.steady_ms();
        self.slots.with(device, |slot| {
            let fence = slot.machine.admit(shown, now_ms)?;
            Ok(slot.visitors.enter(fence))
        })
    }

    /// Let a request that shows a lease, or none, drive a device, and from now on nobody else,
    /// whatever they show; `reason` is what others see as the holder.
    ///
    /// # Errors
    /// Somebody else holds the device, it is being made safe, or it is already closed.
    pub fn close(
        &self,
        device: &str,
        shown: Shown<'_>,
        reason: &str,
    ) -> Result<(Visit, Closed), Busy> {
        let now_ms = self.clock.steady_ms();
        self.slots.with(device, |slot| {
            let fence = slot.machine.close(shown, reason, now_ms)?;
            let closed = Closed::new(device, self.slots.clone());
            Ok((slot.visitors.enter(fence), closed))
        })
    }

    fn fence(&self, device: &str) -> u64 {
        self.slots.with(device, |slot| slot.machine.fence())
    }

    fn granted(&self, held: &Held) -> Granted {
        Granted {
            lease_id: held.claim.lease_id.clone(),
            holder: held.claim.holder.clone(),
            expires_ms: self.wall_ms(held.expires_ms),
        }
    }

    fn now(&self) -> Now {
        Now {
            steady_ms: self.clock.steady_ms(),
            wall_ms: self.clock.now_ms(),
        }
    }

    fn tell_taken(&self, device: &str, held: &Held) {
        let told = json!({
            "holder": held.claim.holder,
            "expires_at": clock::text(self.wall_ms(held.expires_ms)),
        });
        self.devices.tell(Kind::LeaseTaken, device, device, told);
    }

    fn order(&self, device: &str) -> Arc<tokio::sync::Mutex<()>> {
        self.slots.with(device, |slot| slot.order.clone())
    }

    /// Wait a while for the debt with this fence to be paid.
    async fn safe_soon(&self, device: &str, fence: u64) -> Released {
        let moved = self.slots.with(device, |slot| slot.visitors.moved(fence));
        // The check below tells.
        let _ = tokio::time::timeout(RELEASE_WAIT, moved).await;
        self.safety(device)
    }

    fn safety(&self, device: &str) -> Released {
        let safe = self
            .slots
            .with(device, |slot| slot.machine.debt().is_none());
        Released::Over { safe }
    }

    /// Complete a change even if the caller goes away, so that store and machine agree.
    async fn finish<T, F>(
        self: &Arc<Self>,
        change: impl FnOnce(Arc<Self>) -> F,
    ) -> Result<T, LeaseError>
    where
        F: Future<Output = Result<T, LeaseError>> + Send + 'static,
        T: Send + 'static,
    {
        let task = tokio::spawn(change(self.clone()));
        task.await.map_err(|_| StoreError::Panicked)?
    }
}

fn owned(shown: Shown<'_>) -> (Option<String>, String) {
    (shown.lease_id.map(str::to_owned), shown.owner.to_owned())
}

#[cfg(test)]
mod tests;
