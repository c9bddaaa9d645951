//! Why a task is not running yet, or how it ended: what people ask a queue first.

use crate::accounts::{Advances, Had};
use crate::axes::{Axes, State};
use crate::cause::Ending;
use crate::devices::{Device, Quarantine};
use crate::groups::Kind;
use crate::names::{DeviceId, JobId, UserId};
use crate::order::Walk;
use crate::scheduler::Scheduler;
use crate::submission::Requirement;
use crate::task::{TaskKey, TaskState};

/// An unfinished job, explained.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Why {
    /// Its axes.
    pub axes: Axes,
    /// Its tasks, in the order of the submission.
    pub tasks: Vec<WhyTask>,
}

/// A task, explained.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WhyTask {
    /// For a waiting task: how many tasks are ahead of it, for the same kind of place.
    pub ahead: Option<usize>,
    /// For a task that waits for a device: each device of the organisation, and what prevents its use.
    pub devices: Vec<(DeviceId, Blocked)>,
    /// When it gives up, or is ended because it took too long, in milliseconds.
    pub until_ms: Option<u64>,
    /// One or two sentences: what must happen next, or what to do.
    pub next: String,
}

/// What prevents the use of a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Blocked {
    /// The device lacks something.
    Misfit(String),
    /// A person must re-admit it.
    Quarantined(Quarantine),
    /// It cannot be reached.
    Offline,
    /// A job is running on it.
    Busy {
        /// The job.
        job: JobId,
        /// The job's user.
        user: UserId,
        /// Since when, in milliseconds.
        since_ms: u64,
    },
    /// Somebody else has it.
    Held {
        /// Who.
        holder: String,
        /// Until when at most, in milliseconds.
        expires_ms: Option<u64>,
    },
    /// Nothing; a limit prevents the task from running.
    Free,
}

impl<R: Requirement> Scheduler<R> {
    /// Explains an unfinished job; `None` for any other. For a finished one see
    /// [`Ending::sentence`](crate::Ending::sentence).
    #[must_use]
    pub fn why(&self, job: &JobId) -> Option<Why> {
        let number = *self.numbers.get(job)?;
        let job = self.job(job)?;
        let tasks = job.numbers().map(|task| self.why_task((number, task)));
        Some(Why {
            axes: job.axes,
            tasks: tasks.collect(),
        })
    }

    fn why_task(&self, key: TaskKey) -> WhyTask {
        let job = &self.jobs[&key.0];
        let entry = job.task(key.1);
        let mut why = WhyTask {
            ahead: None,
            devices: Vec::new(),
            until_ms: entry.deadline_ms,
            next: String::new(),
        };
        why.next = match &entry.state {
            TaskState::Settled(ending) => ending.sentence().to_owned(),
            TaskState::Blocked => {
                let open = |need: &&u32| {
                    let state = &job.task(**need).state;
                    !matches!(state, TaskState::Settled(Ending::Passed))
                };
                let open: Vec<String> = entry
                    .needs
                    .iter()
                    .filter(open)
                    .map(u32::to_string)
                    .collect();
                format!("It is queued when task {} has passed.", open.join(" and "))
            }
            TaskState::Active(attempt) => {
                let device = attempt.device.and_then(|number| self.devices.get(number));
                let place = device.map_or("a build slot".to_owned(), |d| d.id.to_string());
                let what = match attempt.state {
                    State::Assigned => "is being set up",
                    State::Stopping => "is being stopped",
                    _ => "runs",
                };
                format!("It {what} on {place}, as attempt {}.", attempt.number)
            }
            TaskState::Waiting => {
                let ahead = self.ahead(key);
                why.ahead = Some(ahead);
                why.devices = self.why_devices(key);
                self.why_waiting(key, ahead, &why.devices)
            }
        };
        why
    }

    /// How many tasks for the same kind of place are ahead of this one, if no others come.
    fn ahead(&self, key: TaskKey) -> usize {
        let accounts = &self.accounts;
        let org = accounts.org_of(self.jobs[&key.0].user);
        let is_bench = |kind| matches!(kind, Kind::Bench(_));
        let kind = self.jobs[&key.0].task(key.1).kind;
        let mut charged = Advances::default();
        let mut ahead = 0;
        let had = |charged: &Advances, user: usize| {
            let Had { org_ms, user_ms } = accounts.had(user);
            let org = charged.orgs.get(&accounts.org_of(user));
            Had {
                org_ms: org_ms + org.unwrap_or(&0),
                user_ms: user_ms + charged.users.get(&user).unwrap_or(&0),
            }
        };
        let mut walk = Walk::new(&self.lines, None, self.now_ms, |user| accounts.had(user));
        while let Some((line, next)) = walk.next(|user| had(&charged, user)) {
            if next == key {
                break;
            }
            let is_rival = match kind {
                Kind::Build => line.kind == Kind::Build,
                Kind::Bench(_) => is_bench(line.kind) && accounts.org_of(line.user) == org,
            };
            if is_rival {
                ahead += 1;
                let cost_ms = accounts.mean_ms(line.user);
                *charged.users.entry(line.user).or_default() += cost_ms;
                if line.kind == Kind::Build {
                    *charged.orgs.entry(accounts.org_of(line.user)).or_default() += cost_ms;
                }
            }
            walk.pass_on(line, next, had(&charged, line.user));
        }
        ahead
    }

    fn why_devices(&self, key: TaskKey) -> Vec<(DeviceId, Blocked)> {
        let job = &self.jobs[&key.0];
        let org = self.accounts.org_of(job.user);
        let Kind::Bench(group) = job.task(key.1).kind else {
            return Vec::new();
        };
        let Some(requirement) = self.groups.requirement(group) else {
            return Vec::new();
        };
        let ours = self.devices.all().filter(|(_, device)| device.org == org);
        ours.map(|(_, device)| {
            let misfit = requirement.misfit(&device.facts).map(Blocked::Misfit);
            let blocked = misfit.unwrap_or_else(|| self.blocked(device));
            (device.id.clone(), blocked)
        })
        .collect()
    }

    fn blocked(&self, device: &Device<R::Device>) -> Blocked {
        if let Some(quarantine) = &device.quarantine {
            return Blocked::Quarantined(quarantine.clone());
        }
        if !device.online {
            return Blocked::Offline;
        }
        if let Some(key) = device.used_by {
            let job = &self.jobs[&key.0];
            let attempt = job.task(key.1).attempt();
            return Blocked::Busy {
                job: job.id.clone(),
                user: self.accounts.user_name(job.user).clone(),
                since_ms: attempt.map_or(self.now_ms, |attempt| attempt.assigned_ms),
            };
        }
        match &device.held {
            Some(held) => Blocked::Held {
                holder: held.holder.clone(),
                expires_ms: held.expires_ms,
            },
            None => Blocked::Free,
        }
    }

    fn why_waiting(&self, key: TaskKey, ahead: usize, devices: &[(DeviceId, Blocked)]) -> String {
        let before = match ahead {
            0 => "It is next".to_owned(),
            1 => "One task is before it".to_owned(),
            ahead => format!("{ahead} tasks are before it"),
        };
        if self.is_draining {
            return "The server is about to stop. It stays queued and starts after the restart."
                .to_owned();
        }
        let user = self.jobs[&key.0].user;
        if !self.accounts.may_run(user, &self.limits) {
            let limits = &self.limits;
            return format!(
                "{before}. It waits until less runs: a user may have {} attempts at once, an organisation {}, and some are left to other organisations.",
                limits.running_per_user_max, limits.running_per_org_max
            );
        }
        if self.jobs[&key.0].task(key.1).kind == Kind::Build {
            let slots = self.limits.build_slots;
            if self.builds_running < slots {
                return format!(
                    "{before}. It starts when another build of the organisation has ended: the last free one of {slots} build slots is left to other organisations."
                );
            }
            return format!("{before}. It starts when one of the {slots} build slots is free.");
        }
        let names = |which: fn(&Blocked) -> bool| -> String {
            let names = devices.iter().filter(|(_, blocked)| which(blocked));
            let names: Vec<String> = names.map(|(id, _)| id.to_string()).collect();
            names.join(" or ")
        };
        let busy = names(|b| matches!(b, Blocked::Busy { .. } | Blocked::Held { .. }));
        let offline = names(|b| matches!(b, Blocked::Offline));
        let sick = names(|b| matches!(b, Blocked::Quarantined(_)));
        if devices.iter().any(|(_, blocked)| *blocked == Blocked::Free) {
            return format!("{before}. It waits until less runs on the server.");
        }
        if !busy.is_empty() {
            return format!("{before}. It starts when {busy} becomes free.");
        }
        if !offline.is_empty() {
            return format!("{before}. It starts when {offline} is back: check cable and power.");
        }
        if !sick.is_empty() {
            return format!("{before}. It starts when somebody re-admits {sick}.");
        }
        Ending::NoMatchingDevice.sentence().to_owned()
    }
}
