//! Why a task is not running yet, or how it ended: what people ask a queue first.

use crate::axes::{Axes, State};
use crate::cause::Ending;
use crate::devices::{Device, Quarantine};
use crate::groups::Kind;
use crate::names::{DeviceId, JobId, OrgId, UserId};
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
                let outlook = match entry.kind {
                    Kind::Build => None,
                    Kind::Bench(group) => {
                        why.devices = self.blocked_for(group);
                        Some(self.outlook(group, DeviceId::to_string))
                    }
                };
                self.why_waiting(key, ahead, outlook.as_ref())
            }
        };
        why
    }

    /// Each device of the group's organisation, and what prevents its use.
    pub(crate) fn blocked_for(&self, group: usize) -> Vec<(DeviceId, Blocked)> {
        let Some((org, requirement)) = self.groups.requirement(group) else {
            return Vec::new();
        };
        self.blocked_on(org, requirement)
    }

    /// Each device of an organisation, and what would prevent its use now by a task that requires this.
    #[must_use]
    pub fn prospects(&self, org: &OrgId, requirement: &R) -> Vec<(DeviceId, Blocked)> {
        let org = self.accounts.known_org(org);
        org.map_or_else(Vec::new, |org| self.blocked_on(org, requirement))
    }

    fn blocked_on(&self, org: usize, requirement: &R) -> Vec<(DeviceId, Blocked)> {
        let ours = self.devices.all().filter(|(_, device)| device.org == org);
        ours.map(|(_, device)| {
            let lack = requirement.misfit(&device.facts);
            let blocked = match lack {
                // What one can do that was not seen yet is not known.
                Some(_) if device.may_fit(requirement) => Blocked::Offline,
                Some(lack) => Blocked::Misfit(lack),
                None => self.blocked(device),
            };
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
}
