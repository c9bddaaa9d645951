//! Groups of tasks with the same requirement: which devices fit is determined once for all of them,
//! and remembered until the device changes.

use std::collections::HashMap;

use crate::submission::Requirement;

/// Where a task waits for a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Kind {
    /// A build slot.
    Build,
    /// A device that fits this group.
    Bench(usize),
}

/// All requirements of tasks of unfinished jobs.
#[derive(Debug)]
pub(crate) struct Groups<R> {
    groups: Vec<Option<Group<R>>>,
    by_requirement: HashMap<(usize, R), usize>,
    vacant: Vec<usize>,
}

#[derive(Debug)]
struct Group<R> {
    org: usize,
    requirement: R,
    /// Tasks of unfinished jobs.
    tasks: usize,
    /// For each device, whether it fits; `None` until that is needed.
    fits: Vec<Option<bool>>,
}

impl<R: Requirement> Groups<R> {
    pub(crate) fn new() -> Self {
        Self {
            groups: Vec::new(),
            by_requirement: HashMap::new(),
            vacant: Vec::new(),
        }
    }

    /// One more task of organisation `org` asks for `requirement`.
    pub(crate) fn enter(&mut self, org: usize, requirement: R) -> usize {
        let key = (org, requirement);
        if let Some(&group) = self.by_requirement.get(&key) {
            if let Some(group) = &mut self.groups[group] {
                group.tasks += 1;
            }
            return group;
        }
        let at = self.vacant.pop().unwrap_or_else(|| {
            self.groups.push(None);
            self.groups.len() - 1
        });
        self.groups[at] = Some(Group {
            org,
            requirement: key.1.clone(),
            tasks: 1,
            fits: Vec::new(),
        });
        self.by_requirement.insert(key, at);
        at
    }

    /// The job of a task of the group is finished.
    pub(crate) fn leave(&mut self, at: usize) {
        let Some(group) = &mut self.groups[at] else {
            return;
        };
        group.tasks -= 1;
        if group.tasks == 0 {
            let key = (group.org, group.requirement.clone());
            self.by_requirement.remove(&key);
            self.groups[at] = None;
            self.vacant.push(at);
        }
    }

    /// Whose tasks they are, and what they ask for.
    pub(crate) fn requirement(&self, at: usize) -> Option<(usize, &R)> {
        let group = self.groups[at].as_ref()?;
        Some((group.org, &group.requirement))
    }

    /// Whether the device with number `device`, organisation and facts fits the group.
    pub(crate) fn fits(&mut self, at: usize, device: usize, org: usize, facts: &R::Device) -> bool {
        let Some(group) = &mut self.groups[at] else {
            return false;
        };
        if group.org != org {
            return false;
        }
        if group.fits.len() <= device {
            group.fits.resize(device + 1, None);
        }
        *group.fits[device].get_or_insert_with(|| group.requirement.misfit(facts).is_none())
    }

    /// The number now stands for another device, or the device has other abilities.
    pub(crate) fn device_changed(&mut self, device: usize) {
        for group in self.groups.iter_mut().flatten() {
            if let Some(fits) = group.fits.get_mut(device) {
                *fits = None;
            }
        }
    }
}
