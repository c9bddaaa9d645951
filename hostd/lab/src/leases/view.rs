//! Read-only questions about leases.

use tokio::sync::watch;

use super::{Busy, Granted, Leases, Shown};

impl Leases {
    /// Changes with every lease and every owed safe state, whatever it is.
    #[must_use]
    pub fn changes(&self) -> watch::Receiver<()> {
        self.turned.subscribe()
    }

    /// Whether a request that shows this may change a device's name and wiring.
    ///
    /// # Errors
    /// Somebody else holds the device.
    pub fn check_change(&self, device: &str, shown: Shown<'_>) -> Result<(), Busy> {
        let now_ms = self.clock.steady_ms();
        self.slots
            .with(device, |slot| slot.machine.check_change(shown, now_ms))
    }

    /// The lease that a request shows, if it holds the device.
    ///
    /// # Errors
    /// It does not: it is over, was never taken, or those let in before it are still inside.
    pub fn held(&self, device: &str, shown: Shown<'_>) -> Result<Granted, Busy> {
        let now_ms = self.clock.steady_ms();
        self.slots.with(device, |slot| {
            let machine = &slot.machine;
            let held = machine.held().filter(|held| {
                held.is_shown(shown) && now_ms < held.expires_ms && machine.is_given(held.fence)
            });
            let held = held.ok_or_else(|| machine.busy(None, now_ms))?;
            Ok(self.granted(held))
        })
    }

    /// Holder and wall-clock expiry of a device's lease.
    #[must_use]
    pub fn holder(&self, device: &str) -> Option<(String, u64)> {
        self.slots.with(device, |slot| {
            let held = slot.machine.held()?;
            Some((held.claim.holder.clone(), self.wall_ms(held.expires_ms)))
        })
    }

    /// Since when a device has owed its safe state, by the wall clock.
    #[must_use]
    pub fn owes_since_ms(&self, device: &str) -> Option<u64> {
        self.slots
            .with(device, |slot| slot.machine.debt().map(|debt| debt.since_ms))
    }

    /// What has kept a device from its safe state for a minute, as a fragment.
    #[must_use]
    pub fn obstacle(&self, device: &str) -> Option<String> {
        let now_ms = self.clock.steady_ms();
        self.slots
            .with(device, |slot| slot.machine.debt()?.obstacle(now_ms))
    }

    /// Devices held under a name, each with the owner of its lease. Until the lease is over, the
    /// holder can use the name that the device had when it was taken.
    #[must_use]
    pub fn taken_as(&self, name: &str) -> Vec<(String, String)> {
        self.slots.each(|device, slot| {
            let held = slot.machine.held()?;
            let of_name = held.claim.device_name == name;
            of_name.then(|| (device.to_owned(), held.claim.owner.clone()))
        })
    }

    /// Devices that owners have whom `is_owner` knows: device, id of the lease, owner.
    #[must_use]
    pub fn held_by(&self, is_owner: impl Fn(&str) -> bool) -> Vec<(String, String, String)> {
        self.slots.each(|device, slot| {
            let claim = &slot.machine.held()?.claim;
            let found = (
                device.to_owned(),
                claim.lease_id.clone(),
                claim.owner.clone(),
            );
            is_owner(&claim.owner).then_some(found)
        })
    }

    /// The wall-clock time of a steady-clock instant.
    #[must_use]
    pub fn wall_ms(&self, steady_ms: u64) -> u64 {
        let left_ms = steady_ms.saturating_sub(self.clock.steady_ms());
        self.clock.now_ms().saturating_add(left_ms)
    }
}
