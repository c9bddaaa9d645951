//! Leases: one consumer of a device at a time, by name of the lease it shows.
//!
//! The rules are in [`table`]; this is the part with a clock, a store and devices. A lease is
//! durable before it is told. When one ends, everything that was let in under it is cut and the
//! device is put into its safe state before anybody else gets it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tracing::{info, warn};

use crate::bench::Bench;
use crate::captures::Captures;
use crate::clock::Clock;
use crate::config::LeasesConfig;
use crate::store::leases::LeaseRecord;
use crate::store::{Store, StoreError};

mod closed;
mod queue;
mod safe;
pub mod table;
mod visitors;

pub use closed::Closed;
pub use table::{Busy, Claim, Held, Refused, Shown, TTL_S};
pub use visitors::Visit;

use closed::ClosedDevices;
use safe::SafeState;
use table::{Ending, Table};
use visitors::Visitors;

/// How long tunnels may take to close once their lease is over.
const CLOSE_WAIT: Duration = Duration::from_secs(3);

/// Longest sleep of the keeper; the wall clock of a suspended machine jumps.
const KEEPER_SLEEP: Duration = Duration::from_secs(5);

/// All leases.
#[derive(Debug)]
pub struct Leases {
    table: Mutex<Table>,
    /// The fence of each device that somebody visits, told to its visitors.
    visitors: Mutex<HashMap<String, Visitors>>,
    closed: ClosedDevices,
    store: Store,
    clock: Clock,
    safe: SafeState,
    /// Told when the next expiry may have moved.
    changed: Notify,
    /// Held from a change in memory until the store follows, so that both go in one order.
    order: tokio::sync::Mutex<()>,
}

/// Why a lease is not given or kept.
#[derive(Debug, thiserror::Error)]
pub enum LeaseError {
    #[error("the device is held by another lease")]
    Busy(Busy),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A lease as told to its holder.
#[derive(Debug, Clone)]
pub struct Granted {
    pub lease_id: String,
    pub holder: String,
    /// By the wall clock.
    pub expires_ms: u64,
}

impl Leases {
    /// Put back what was held when the process ended, and look after it from now on.
    ///
    /// # Errors
    /// The store.
    pub async fn open(
        config: &LeasesConfig,
        store: Store,
        clock: Clock,
        bench: Arc<Bench>,
        captures: Arc<Captures>,
    ) -> Result<Arc<Self>, StoreError> {
        let mut table = Table::default();
        let (wall_ms, steady_ms) = (clock.now_ms(), clock.steady_ms());
        for record in store.leases_all().await? {
            let left_ms = record.expires_ms.saturating_sub(wall_ms);
            info!(
                device = record.device,
                holder = record.holder,
                left_ms,
                "lease goes on"
            );
            let device = record.device.clone();
            table.restore(&device, claim_of(record), left_ms, steady_ms);
        }
        let leases = Arc::new(Self {
            table: Mutex::new(table),
            visitors: Mutex::default(),
            closed: ClosedDevices::default(),
            store,
            clock,
            safe: SafeState::new(config, bench, captures),
            changed: Notify::new(),
            order: tokio::sync::Mutex::default(),
        });
        tokio::spawn(leases.clone().keep());
        Ok(leases)
    }

    /// Take a device, or renew the lease if it is the claimant's.
    ///
    /// # Errors
    /// Somebody else has it, or the store.
    pub async fn acquire(
        self: &Arc<Self>,
        device: &str,
        claim: Claim,
    ) -> Result<Granted, LeaseError> {
        self.expire();
        let order = self.order.lock().await;
        if !self.table().is_held_by(device, &claim) {
            // Whoever holds it may keep it, and waits like everybody else.
            self.closed.check(device).map_err(LeaseError::Busy)?;
        }
        let before = self.table().fence(device);
        let held = self
            .table()
            .acquire(device, claim, self.clock.steady_ms())
            .map_err(LeaseError::Busy)?;
        if held.fence != before {
            // Whoever drove the device without a lease has to stop now.
            self.announce(device, held.fence);
            info!(device, holder = held.claim.holder, "lease taken");
        }
        self.note(device, &held).await?;
        // Other devices' leases do not wait for this one's tunnels.
        drop(order);
        if held.fence != before {
            self.until_alone(device).await;
        }
        Ok(self.granted(&held))
    }

    /// Let a lease live on for `ttl_ms`.
    ///
    /// # Errors
    /// It is over, or the store.
    pub async fn renew(
        self: &Arc<Self>,
        device: &str,
        shown: Shown<'_>,
        ttl_ms: u64,
    ) -> Result<Granted, LeaseError> {
        self.expire();
        let _order = self.order.lock().await;
        let renewed = self
            .table()
            .renew(device, shown, ttl_ms, self.clock.steady_ms());
        let held = renewed.map_err(refused)?;
        self.note(device, &held).await?;
        Ok(self.granted(&held))
    }

    /// Give a device back. It is in its safe state when this returns, or the server has given up
    /// on that. A lease that is over already is released.
    pub async fn release(self: &Arc<Self>, device: &str, shown: Shown<'_>) {
        let ending = self.table().release(device, shown);
        if let Some(ending) = ending {
            self.end(ending).await;
        }
    }

    /// End the lease of the holder with this label.
    ///
    /// # Errors
    /// The device is free, or somebody else's.
    pub async fn take_away(self: &Arc<Self>, device: &str, holder: &str) -> Result<(), LeaseError> {
        self.expire();
        let taken = self
            .table()
            .take_away(device, holder, self.clock.steady_ms());
        self.end(taken.map_err(refused)?).await;
        Ok(())
    }

    /// Let a request that shows a lease, or none, drive a device until another lease begins.
    ///
    /// # Errors
    /// Somebody else holds the device.
    pub fn admit(&self, device: &str, shown: Shown<'_>) -> Result<(), Busy> {
        self.closed.check(device)?;
        let now_ms = self.clock.steady_ms();
        self.table().admit(device, shown, now_ms).map(|_| ())
    }

    /// Like [`admit`](Self::admit), for what lasts: the visit tells when it has to end, and a
    /// lease is not handed on before it has.
    ///
    /// # Errors
    /// Somebody else holds the device.
    pub fn visit(&self, device: &str, shown: Shown<'_>) -> Result<Visit, Busy> {
        self.closed.check(device)?;
        self.enter(device, shown)
    }

    /// Like [`visit`](Self::visit), and from now on nobody else is let in, whatever they show;
    /// `reason` is what they are told of the holder.
    ///
    /// # Errors
    /// Somebody else holds the device, or it is closed already.
    pub fn close(
        &self,
        device: &str,
        shown: Shown<'_>,
        reason: &str,
    ) -> Result<(Visit, Closed), Busy> {
        let closed = self.closed.close(device, reason)?;
        Ok((self.enter(device, shown)?, closed))
    }

    fn enter(&self, device: &str, shown: Shown<'_>) -> Result<Visit, Busy> {
        let now_ms = self.clock.steady_ms();
        let table = self.table();
        let fence = table.admit(device, shown, now_ms)?;
        let mut visitors = self.visitors();
        let of_device = visitors.entry(device.to_owned());
        Ok(of_device
            .or_insert_with(|| Visitors::new(fence))
            .enter(fence))
    }

    /// A device is gone, and its lease with it.
    pub async fn forget(&self, device: &str) {
        let ending = self.table().forget(device);
        if let Some(ending) = ending {
            self.announce(device, ending.fence);
            if let Err(error) = self.store.lease_delete(device).await {
                warn!(device, %error, "failed to forget the lease of a removed device");
            }
        }
        self.visitors().remove(device);
    }

    /// Holder and wall-clock expiry of a device's lease.
    #[must_use]
    pub fn holder(&self, device: &str) -> Option<(String, u64)> {
        let table = self.table();
        let held = table.get(device)?;
        Some((held.claim.holder.clone(), self.wall_ms(held.expires_ms)))
    }

    /// The wall-clock time of a steady instant.
    #[must_use]
    pub fn wall_ms(&self, steady_ms: u64) -> u64 {
        let left_ms = steady_ms.saturating_sub(self.clock.steady_ms());
        self.clock.now_ms().saturating_add(left_ms)
    }

    fn granted(&self, held: &Held) -> Granted {
        Granted {
            lease_id: held.claim.lease_id.clone(),
            holder: held.claim.holder.clone(),
            expires_ms: self.wall_ms(held.expires_ms),
        }
    }

    async fn note(&self, device: &str, held: &Held) -> Result<(), StoreError> {
        let claim = held.claim.clone();
        let record = LeaseRecord {
            device: device.to_owned(),
            lease_id: claim.lease_id,
            owner: claim.owner,
            holder: claim.holder,
            ttl_ms: claim.ttl_ms,
            expires_ms: self.wall_ms(held.expires_ms),
        };
        self.store.lease_put(record).await
    }

    /// Ends leases as they expire, for ever.
    async fn keep(self: Arc<Self>) {
        loop {
            self.expire();
            let next_ms = self.table().next_expiry();
            let sleep = next_ms.map_or(KEEPER_SLEEP, |at_ms| {
                let left_ms = at_ms.saturating_sub(self.clock.steady_ms());
                Duration::from_millis(left_ms).min(KEEPER_SLEEP)
            });
            tokio::select! {
                () = tokio::time::sleep(sleep) => {}
                () = self.changed.notified() => {}
            }
        }
    }

    fn expire(self: &Arc<Self>) {
        let expired = self.table().expire(self.clock.steady_ms());
        for ending in expired {
            info!(
                device = ending.device,
                holder = ending.holder,
                "lease expired"
            );
            let leases = self.clone();
            tokio::spawn(async move { leases.end(ending).await });
        }
    }

    /// Cut what the lease let in, make the device safe, and hand it to the next. Runs to its end
    /// even if the caller goes away.
    async fn end(self: &Arc<Self>, ending: Ending) {
        let leases = self.clone();
        let task = tokio::spawn(async move {
            leases.announce(&ending.device, ending.fence);
            {
                let _order = leases.order.lock().await;
                if let Err(error) = leases.store.lease_delete(&ending.device).await {
                    // At the next start the lease lives on until it expires.
                    warn!(device = ending.device, %error, "failed to forget a lease");
                }
            }
            leases.until_alone(&ending.device).await;
            leases.safe.reach(&ending.device).await;
            let now_ms = leases.clock.steady_ms();
            leases.table().ended(&ending.device, ending.fence, now_ms);
            info!(
                device = ending.device,
                holder = ending.holder,
                "lease ended"
            );
        });
        if task.await.is_err() {
            warn!("ending a lease panicked; its device stays closed until a restart");
        }
    }

    fn announce(&self, device: &str, fence: u64) {
        if let Some(visitors) = self.visitors().get(device) {
            visitors.announce(fence);
        }
        self.changed.notify_one();
    }

    /// Wait until nobody is left of those let in before the present fence.
    async fn until_alone(&self, device: &str) {
        let alone = self.visitors().get(device).map(Visitors::alone);
        let Some(alone) = alone else { return };
        if tokio::time::timeout(CLOSE_WAIT, alone).await.is_err() {
            warn!(device, "a tunnel did not close in time after its lease");
        }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        // Each transition is one assignment, so a panic elsewhere leaves a valid table.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn visitors(&self) -> MutexGuard<'_, HashMap<String, Visitors>> {
        self.visitors.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn refused(refused: Refused) -> LeaseError {
    match refused {
        Refused::Lost(busy) | Refused::OtherHolder(busy) => LeaseError::Busy(busy),
    }
}

fn claim_of(record: LeaseRecord) -> Claim {
    Claim {
        lease_id: record.lease_id,
        owner: record.owner,
        holder: record.holder,
        ttl_ms: record.ttl_ms,
    }
}
