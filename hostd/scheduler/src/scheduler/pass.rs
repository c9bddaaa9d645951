//! A pass matches everything that waits with everything that is free. It examines no pair of task and
//! device twice, and no task if one with the same requirement has found nothing in this pass.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::{Decision, Scheduler};
use crate::accounts::Advances;
use crate::axes::State;
use crate::groups::Kind;
use crate::matching::Matching;
use crate::order::{LineKey, Walk};
use crate::submission::Requirement;
use crate::task::{Attempt, TaskKey, TaskState};

/// What a pass has found.
struct Found {
    /// The devices that were free, least capable first.
    free: Vec<usize>,
    builds: Vec<(TaskKey, u64)>,
    benches: Vec<(TaskKey, u64)>,
    matching: Matching,
    /// For each group that came up, its devices as indices into `free`.
    choices: HashMap<usize, Rc<[usize]>>,
}

impl Found {
    /// Of the slots that were free.
    fn slots_left(&self, slots: usize) -> u32 {
        u32::try_from(slots - self.builds.len()).unwrap_or(u32::MAX)
    }
}

impl<R: Requirement> Scheduler<R> {
    /// Gives places to the tasks whose turn it is; only to tasks of `user` if nothing has become
    /// free since the last pass and only this user's queue has grown.
    pub(super) fn pass(&mut self, user: Option<usize>, out: &mut Vec<Decision>) {
        if self.is_draining {
            return;
        }
        let free = self.devices.free::<R>();
        let slots = self.limits.build_slots.saturating_sub(self.builds_running);
        if (free.is_empty() && slots == 0) || self.accounts.running >= self.limits.running_max {
            return;
        }
        self.charge();
        let mut found = Found {
            matching: Matching::new(free.len()),
            free,
            builds: Vec::new(),
            benches: Vec::new(),
            choices: HashMap::new(),
        };
        self.search(user, slots as usize, &mut found);
        for (key, charged_ms) in found.builds {
            self.assign(key, None, charged_ms, out);
        }
        let devices = found.matching.devices();
        for ((key, charged_ms), place) in found.benches.into_iter().zip(devices) {
            self.assign(key, Some(found.free[place]), charged_ms, out);
        }
    }

    fn search(&mut self, user: Option<usize>, slots: usize, found: &mut Found) {
        // Taken out, since the walk reads the lines while the accounts change.
        let lines = std::mem::take(&mut self.lines);
        let mut walk = Walk::new(&lines, user, self.now_ms, |user| self.accounts.had(user));
        let mut hopeless: HashSet<Kind> = HashSet::new();
        while let Some((line, key)) = walk.next(|user| self.accounts.had(user)) {
            if self.accounts.running >= self.limits.running_max
                || (found.benches.len() == found.free.len() && found.builds.len() == slots)
            {
                break;
            }
            if hopeless.contains(&line.kind)
                || !self.accounts.may_run(line.user, &self.limits)
                || (line.kind == Kind::Build
                    && !self.accounts.may_build(line.user, found.slots_left(slots)))
            {
                continue;
            }
            if self.find(line, key, slots, found) {
                walk.pass_on(line, key, self.accounts.had(line.user));
            } else {
                hopeless.insert(line.kind);
            }
        }
        self.lines = lines;
    }

    /// Finds a place for one task; returns whether there is one.
    fn find(&mut self, line: LineKey, key: TaskKey, slots: usize, found: &mut Found) -> bool {
        let Kind::Bench(group) = line.kind else {
            let has_slot = found.builds.len() < slots;
            if has_slot {
                found
                    .builds
                    .push((key, self.accounts.run_begins(line.user, true)));
            }
            return has_slot;
        };
        if found.benches.len() == found.free.len() {
            return false;
        }
        let choices = match found.choices.get(&group) {
            Some(choices) => choices.clone(),
            None => {
                let choices = self.choices(group, &found.free);
                found.choices.insert(group, choices.clone());
                choices
            }
        };
        let has_device = found
            .matching
            .add(self.preferred(key, choices, &found.free));
        if has_device {
            found
                .benches
                .push((key, self.accounts.run_begins(line.user, false)));
        }
        has_device
    }

    /// The devices of `free` that fit the group, as indices.
    fn choices(&mut self, group: usize, free: &[usize]) -> Rc<[usize]> {
        let mut choices = Vec::new();
        for (place, &number) in free.iter().enumerate() {
            if let Some(device) = self.devices.get(number)
                && self.groups.fits(group, number, device.org, &device.facts)
            {
                choices.push(place);
            }
        }
        choices.into()
    }

    /// The same devices, with those where the task failed before moved to the end.
    fn preferred(&self, key: TaskKey, choices: Rc<[usize]>, free: &[usize]) -> Rc<[usize]> {
        let failed_on = &self.jobs[&key.0].task(key.1).failed_on;
        if failed_on.is_empty() {
            return choices;
        }
        let failed = |place: &usize| {
            let device = self.devices.get(free[*place]);
            device.is_some_and(|device| failed_on.contains(&device.id))
        };
        let mut choices = choices.to_vec();
        choices.sort_by_key(failed);
        choices.into()
    }

    /// What users and organisations were charged for running attempts and have not used yet.
    pub(super) fn advances(&self) -> Advances {
        let mut advances = Advances::default();
        for key in &self.active {
            let Some(job) = self.jobs.get(&key.0) else {
                continue;
            };
            if let Some(attempt) = job.task(key.1).attempt() {
                let used = self.now_ms.saturating_sub(attempt.assigned_ms);
                let left = attempt.charged_ms.saturating_sub(used);
                *advances.users.entry(job.user).or_default() += left;
                if attempt.is_build() {
                    let org = self.accounts.org_of(job.user);
                    *advances.orgs.entry(org).or_default() += left;
                }
            }
        }
        advances
    }

    /// Charges all users for attempts that run longer than expected.
    fn charge(&mut self) {
        for key in &self.active {
            if let Some(job) = self.jobs.get_mut(&key.0) {
                let user = job.user;
                if let Some(attempt) = job.task_mut(key.1).attempt_mut() {
                    let used = self.now_ms - attempt.assigned_ms;
                    let is_build = attempt.is_build();
                    attempt.charged_ms =
                        self.accounts
                            .charge(user, is_build, attempt.charged_ms, used);
                }
            }
        }
    }

    fn assign(
        &mut self,
        key: TaskKey,
        device: Option<usize>,
        charged_ms: u64,
        out: &mut Vec<Decision>,
    ) {
        let Some(job) = self.jobs.get_mut(&key.0) else {
            return;
        };
        self.epoch += 1;
        job.attempts += 1;
        job.axes.advance(State::Assigned);
        if job.begun_ms.is_none() {
            job.begun_ms = Some(self.now_ms);
            let deadline = self.now_ms.saturating_add(job.clocks.job_ms);
            self.timers.insert((deadline, super::Timer::Job(key.0)));
        }
        let attempt = Attempt {
            number: job.attempts,
            epoch: self.epoch,
            device,
            state: State::Assigned,
            assigned_ms: self.now_ms,
            charged_ms,
            first_output: false,
            ending: None,
            hard: false,
            given_up: false,
        };
        let id = job.attempt_id(key.1, &attempt);
        let deadline = self.now_ms.saturating_add(job.clocks.start_ms);
        self.lines.remove(job.line(key.1), key);
        job.task_mut(key.1).state = TaskState::Active(attempt);
        self.active.insert(key);
        let device = match device {
            Some(number) => self.devices.get_mut(number).map(|device| {
                device.used_by = Some(key);
                device.id.clone()
            }),
            None => {
                self.builds_running += 1;
                None
            }
        };
        self.set_clock(key, Some(deadline));
        self.count_queued(key.0);
        out.push(Decision::Assign {
            attempt: id,
            device,
        });
    }
}
