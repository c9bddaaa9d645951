//! Machines and their stored rows: written after each change, restored at the start.

use std::sync::Arc;

use tracing::info;

use super::Leases;
use super::debt::Debt;
use super::hold::{Claim, Held};
use super::machine::Row;
use store::StoreError;
use store::leases::{LeaseRecord, OwedRecord};

impl Leases {
    /// Restore what was stored for one device.
    pub(super) async fn restore(self: &Arc<Self>, record: LeaseRecord) -> Result<(), StoreError> {
        let now = self.now();
        let left_ms = record.expires_ms.saturating_sub(now.wall_ms);
        let (device, holder) = (record.device.clone(), record.holder.clone());
        let fence = self.slots.with(&device, |slot| {
            slot.machine.restore(row_of(record), left_ms, now);
            slot.machine.fence()
        });
        if self
            .slots
            .with(&device, |slot| slot.machine.debt().is_none())
        {
            info!(device, holder, left_ms, "lease goes on");
            return Ok(());
        }
        if self.slots.with(&device, |slot| slot.machine.is_changed()) {
            self.write(&device).await?;
        }
        info!(
            device,
            holder, "the device owes its safe state since before the start"
        );
        self.settle_later(&device, fence);
        Ok(())
    }

    /// Store the machine's row, and report the result to it. Called in the device's order.
    pub(super) async fn write(&self, device: &str) -> Result<(), StoreError> {
        let row = self.slots.with(device, |slot| slot.machine.row());
        let stored = match row {
            Some(row) => self.store.lease_put(self.record_of(device, row)).await,
            None => self.store.lease_delete(device).await,
        };
        let (now, ok) = (self.now(), stored.is_ok());
        self.slots.with(device, |slot| slot.machine.stored(ok, now));
        self.turned.send_replace(());
        stored
    }

    fn record_of(&self, device: &str, row: Row) -> LeaseRecord {
        match row {
            Row::Held(held) => LeaseRecord {
                device: device.to_owned(),
                lease_id: held.claim.lease_id,
                owner: held.claim.owner,
                holder: held.claim.holder,
                device_name: held.claim.device_name,
                ttl_ms: held.claim.ttl_ms,
                expires_ms: self.wall_ms(held.expires_ms),
                fence: held.fence,
                owes: None,
            },
            Row::Owing(debt) => LeaseRecord {
                device: device.to_owned(),
                fence: debt.fence,
                owes: Some(OwedRecord {
                    why: debt.why,
                    since_ms: debt.since_ms,
                }),
                ..LeaseRecord::default()
            },
        }
    }
}

fn row_of(record: LeaseRecord) -> Row {
    match record.owes {
        Some(owes) => Row::Owing(Debt::stored(record.fence, owes.why, owes.since_ms)),
        None => Row::Held(Held {
            claim: Claim {
                lease_id: record.lease_id,
                owner: record.owner,
                holder: record.holder,
                device_name: record.device_name,
                ttl_ms: record.ttl_ms,
            },
            expires_ms: record.expires_ms,
            fence: record.fence,
        }),
    }
}
