//! The devices: who has each, whether it can be reached, and whether it is trusted.

use std::collections::{BTreeMap, VecDeque};

use crate::limits::{FAILED_USERS_MIN, FAILURES_KEPT, FAILURES_MAX};
use crate::names::{DeviceId, JobId};
use crate::submission::Requirement;
use crate::task::TaskKey;

/// Why no job gets a device until a person re-admits it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quarantine {
    /// What happened, for a person.
    pub reason: String,
    /// The jobs to which it happened.
    pub jobs: Vec<JobId>,
}

/// Somebody other than a job has the device.
#[derive(Debug, Clone)]
pub(crate) struct Held {
    pub(crate) holder: String,
    pub(crate) expires_ms: Option<u64>,
}

#[derive(Debug)]
pub(crate) struct Device<D> {
    pub(crate) id: DeviceId,
    pub(crate) org: usize,
    pub(crate) facts: D,
    pub(crate) online: bool,
    /// It was there once, so that what it can do is known.
    pub(crate) seen: bool,
    pub(crate) held: Option<Held>,
    pub(crate) quarantine: Option<Quarantine>,
    /// The task that is running on it.
    pub(crate) used_by: Option<TaskKey>,
    /// It will be removed as soon as nothing runs on it.
    forgotten: bool,
    failures: VecDeque<Failed>,
}

/// One of several failures of the bench in a row.
#[derive(Debug)]
struct Failed {
    job: JobId,
    user: usize,
}

impl<D> Device<D> {
    pub(crate) fn is_free(&self) -> bool {
        self.online && self.held.is_none() && self.quarantine.is_none() && self.used_by.is_none()
    }

    /// Whether what it can do is known, and it is there to stay.
    pub(crate) fn is_known(&self) -> bool {
        self.seen && !self.forgotten
    }

    /// Whether it fits, or may turn out to fit when it is there for the first time.
    pub(crate) fn may_fit<R: Requirement<Device = D>>(&self, requirement: &R) -> bool {
        match self.seen {
            _ if self.forgotten => false,
            true => requirement.misfit(&self.facts).is_none(),
            false => !requirement.excludes(&self.facts),
        }
    }

    /// The bench failed under `job`; returns the quarantine if this leads to one.
    pub(crate) fn failed(&mut self, job: &JobId, user: usize) -> Option<Quarantine> {
        self.failures.push_back(Failed {
            job: job.clone(),
            user,
        });
        if self.failures.len() > FAILURES_KEPT {
            self.failures.pop_front();
        }
        let mut users: Vec<usize> = self.failures.iter().map(|failed| failed.user).collect();
        users.sort_unstable();
        users.dedup();
        let is_sick = self.failures.len() >= FAILURES_MAX && users.len() >= FAILED_USERS_MIN;
        if !is_sick || self.quarantine.is_some() {
            return None;
        }
        self.quarantine = Some(Quarantine {
            reason: format!(
                "the bench failed {} times in a row, under jobs of {} users",
                self.failures.len(),
                users.len()
            ),
            jobs: self.failures.iter().map(|f| f.job.clone()).collect(),
        });
        self.quarantine.clone()
    }

    /// A task ran on it without a failure of the bench.
    pub(crate) fn worked(&mut self) {
        self.failures.clear();
    }
}

/// All devices of all organisations. A device keeps its number as long as it is known.
#[derive(Debug)]
pub(crate) struct Devices<D> {
    slots: Vec<Option<Device<D>>>,
    by_name: BTreeMap<DeviceId, usize>,
}

impl<D> Devices<D> {
    pub(crate) fn new() -> Self {
        Self {
            slots: Vec::new(),
            by_name: BTreeMap::new(),
        }
    }

    pub(crate) fn number(&self, id: &DeviceId) -> Option<usize> {
        self.by_name.get(id).copied()
    }

    pub(crate) fn get(&self, number: usize) -> Option<&Device<D>> {
        self.slots.get(number)?.as_ref()
    }

    pub(crate) fn get_mut(&mut self, number: usize) -> Option<&mut Device<D>> {
        self.slots.get_mut(number)?.as_mut()
    }

    pub(crate) fn named_mut(&mut self, id: &DeviceId) -> Option<&mut Device<D>> {
        let number = self.number(id)?;
        self.get_mut(number)
    }

    /// All devices, by name.
    pub(crate) fn all(&self) -> impl Iterator<Item = (usize, &Device<D>)> {
        let all = self.by_name.values();
        all.filter_map(|number| Some((*number, self.get(*number)?)))
    }

    /// The device exists, with these abilities; returns its number. A new device counts as absent.
    pub(crate) fn known(&mut self, id: &DeviceId, org: usize, facts: D) -> usize {
        if let Some(number) = self.number(id)
            && let Some(device) = self.get_mut(number)
        {
            device.org = org;
            device.facts = facts;
            device.forgotten = false;
            return number;
        }
        let number = self.slots.iter().position(Option::is_none);
        let number = number.unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        self.slots[number] = Some(Device {
            id: id.clone(),
            org,
            facts,
            online: false,
            seen: false,
            held: None,
            quarantine: None,
            used_by: None,
            forgotten: false,
            failures: VecDeque::new(),
        });
        self.by_name.insert(id.clone(), number);
        number
    }

    /// Removes the device, as soon as nothing runs on it.
    pub(crate) fn forget(&mut self, number: usize) {
        let Some(device) = self.get_mut(number) else {
            return;
        };
        device.forgotten = true;
        if device.used_by.is_none() {
            let id = device.id.clone();
            self.by_name.remove(&id);
            self.slots[number] = None;
        }
    }

    /// The attempt on it has ended.
    pub(crate) fn release(&mut self, number: usize) {
        let Some(device) = self.get_mut(number) else {
            return;
        };
        device.used_by = None;
        if device.forgotten {
            self.forget(number);
        }
    }

    /// A job failed on several devices, so its failures do not count against them.
    pub(crate) fn acquit(&mut self, job: &JobId) {
        for device in self.slots.iter_mut().flatten() {
            device.failures.retain(|failed| failed.job != *job);
        }
    }

    /// A person trusts the device again.
    pub(crate) fn readmit(&mut self, id: &DeviceId) {
        if let Some(device) = self.named_mut(id) {
            device.quarantine = None;
            device.failures.clear();
        }
    }

    /// The devices that a task could have now, least capable first.
    pub(crate) fn free<R: Requirement<Device = D>>(&self) -> Vec<usize> {
        let free = self.all().filter(|(_, device)| device.is_free());
        let mut free: Vec<(u32, usize)> = free
            .map(|(number, device)| (R::rank(&device.facts), number))
            .collect();
        free.sort_by_key(|(rank, _)| *rank);
        free.into_iter().map(|(_, number)| number).collect()
    }
}
