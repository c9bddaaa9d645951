//! The devices as the scheduler sees them: who is there, what each can do, who has it.

use std::collections::HashSet;

use super::{Change, Driver, MAKING_SAFE};

impl Driver {
    /// Looks at all devices and tells the scheduler. It takes what it knows already as no news.
    pub(crate) async fn look_at_devices(&mut self) {
        let now_ms = self.clock.now_ms();
        self.refused.settle(now_ms);
        let mut change = Change::default();
        let records = self.devices.all();
        let present: HashSet<&str> = records
            .iter()
            .filter(|r| !r.removed)
            .map(|r| r.id.as_str())
            .collect();
        let gone: Vec<String> = self
            .known
            .iter()
            .filter(|id| !present.contains(id.as_str()))
            .cloned()
            .collect();
        for id in gone {
            change
                .decisions
                .extend(self.scheduler.device_removed(&id.as_str().into(), now_ms));
            self.known.remove(&id);
        }
        let ours: HashSet<&str> = self
            .running
            .values()
            .filter_map(|running| running.device.as_deref())
            .collect();
        let mut seen = Vec::new();
        for record in records.iter().filter(|record| !record.removed) {
            let Some(device) = self.devices.get(&record.org, &record.id) else {
                continue;
            };
            let (id, org) = (record.id.as_str().into(), record.org.as_str().into());
            let facts = self.tools.benches.capabilities(&device).await;
            self.scheduler.device_known(&id, &org, facts.clone());
            if self.known.insert(record.id.clone())
                && let Some(quarantine) = self.board.quarantine_of(&record.id)
            {
                self.scheduler.quarantine(&id, quarantine);
            }
            if !ours.contains(record.id.as_str()) {
                match self.held_by(&record.id) {
                    Some((holder, expires_ms)) => self.scheduler.held(&id, &holder, expires_ms),
                    None => change.decisions.extend(self.scheduler.freed(&id, now_ms)),
                }
            }
            match device.facts.is_some() {
                true => seen.push((id, org, facts)),
                false => change
                    .decisions
                    .extend(self.scheduler.device_gone(&id, now_ms)),
            }
        }
        // Only now is it known of all who has them.
        for (id, org, facts) in seen {
            change
                .decisions
                .extend(self.scheduler.device_seen(&id, &org, facts, now_ms));
        }
        self.settle(change).await;
    }

    /// Who has a device that no attempt has, and until when.
    fn held_by(&self, device: &str) -> Option<(String, Option<u64>)> {
        let leases = &self.tools.leases;
        if let Some((holder, expires_ms)) = leases.holder(device) {
            return Some((holder, Some(expires_ms)));
        }
        if leases.owes_since_ms(device).is_some() {
            return Some((MAKING_SAFE.to_owned(), None));
        }
        let (holder, at_ms) = self.refused.holder(device)?;
        Some((holder, Some(at_ms)))
    }
}
