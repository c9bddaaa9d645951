//! Events about devices. Each may be repeated; unknown devices are ignored.

use super::{Decision, Scheduler};
use crate::cause::{Ending, Infra};
use crate::devices::{Held, Quarantine};
use crate::names::{DeviceId, OrgId};
use crate::submission::Requirement;

impl<R: Requirement> Scheduler<R> {
    /// A device belongs to the organisation, whether or not it is there. After a restart all devices
    /// are made known in this way, then [`held`](Self::held) and [`quarantine`](Self::quarantine)
    /// restore their state, and then each device that is there is reported by
    /// [`device_seen`](Self::device_seen).
    pub fn device_known(&mut self, id: &DeviceId, org: &OrgId, facts: R::Device) {
        self.know(id, org, facts, false);
    }

    /// Knows a device, which is there if it `is_seen`.
    fn know(&mut self, id: &DeviceId, org: &OrgId, facts: R::Device, is_seen: bool) {
        let org = self.accounts.org(org);
        let number = self.devices.number(id);
        let before = number.and_then(|number| self.devices.get(number));
        let is_same = before.is_some_and(|device| {
            device.org == org && device.facts == facts && (device.seen || !is_seen)
        });
        let number = self.devices.known(id, org, facts);
        if let Some(device) = self.devices.get_mut(number) {
            device.online |= is_seen;
            device.seen |= is_seen;
        }
        if !is_same {
            self.groups.device_changed(number);
            self.review_waits();
        }
    }

    /// A device is there: plugged in, or found to have other abilities than before.
    pub fn device_seen(
        &mut self,
        id: &DeviceId,
        org: &OrgId,
        facts: R::Device,
        now_ms: u64,
    ) -> Vec<Decision> {
        self.at(now_ms);
        self.know(id, org, facts, true);
        self.pass_at(now_ms)
    }

    /// A device can no longer be reached. An attempt on it has lost it.
    pub fn device_gone(&mut self, id: &DeviceId, now_ms: u64) -> Vec<Decision> {
        self.at(now_ms);
        let mut decisions = Vec::new();
        if let Some(device) = self.devices.named_mut(id) {
            device.online = false;
            if let Some(key) = device.used_by {
                let lost = Ending::Infra(Infra::DeviceLost);
                self.stop_attempt(key, lost, &mut decisions);
            }
        }
        decisions
    }

    /// A device was removed from the organisation.
    pub fn device_removed(&mut self, id: &DeviceId, now_ms: u64) -> Vec<Decision> {
        let decisions = self.device_gone(id, now_ms);
        if let Some(number) = self.devices.number(id) {
            self.devices.forget(number);
            self.groups.device_changed(number);
            self.review_waits();
        }
        decisions
    }

    /// Somebody else has the device: by a person's lease, or because a safe state is still owed.
    /// This does not end an attempt that is running on it.
    pub fn held(&mut self, id: &DeviceId, holder: &str, expires_ms: Option<u64>) {
        if let Some(device) = self.devices.named_mut(id) {
            device.held = Some(Held {
                holder: holder.to_owned(),
                expires_ms,
            });
        }
    }

    /// Nobody else has the device any longer.
    pub fn freed(&mut self, id: &DeviceId, now_ms: u64) -> Vec<Decision> {
        if let Some(device) = self.devices.named_mut(id) {
            device.held = None;
        }
        self.pass_at(now_ms)
    }

    /// No job gets the device until it is re-admitted: a person's decision, or a state restored
    /// after a restart.
    pub fn quarantine(&mut self, id: &DeviceId, quarantine: Quarantine) {
        if let Some(device) = self.devices.named_mut(id) {
            device.quarantine = Some(quarantine);
        }
    }

    /// A person trusts the device again.
    pub fn readmit(&mut self, id: &DeviceId, now_ms: u64) -> Vec<Decision> {
        self.devices.readmit(id);
        self.pass_at(now_ms)
    }

    fn pass_at(&mut self, now_ms: u64) -> Vec<Decision> {
        self.at(now_ms);
        let mut decisions = Vec::new();
        self.pass(None, &mut decisions);
        decisions
    }
}
