//! The state machine: which events there are, and what is decided about them.

mod bench;
mod clocks;
mod pass;
mod restore;
mod runs;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::accounts::Accounts;
use crate::axes::{Axes, EndedBecause, State, Verdict};
use crate::cause::{Clock, Ending};
use crate::devices::{Devices, Quarantine};
use crate::groups::{Groups, Kind};
use crate::limits::{Limits, Refused};
use crate::names::{AttemptId, DeviceId, JobId, TaskId};
use crate::order::Lines;
use crate::submission::{Requirement, Submission, Work};
use crate::task::{Job, TaskEntry, TaskKey, TaskState};
use clocks::Timer;
pub use restore::{Before, Stored, StoredTask};

/// What the driver of the scheduler must do, in this order. Each decision is stored before it is
/// carried out; [`Scheduler::stored`] returns what to store about a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Store the attempt with its device's lease in one transaction, then set it up and report
    /// [`Scheduler::started`], or [`Scheduler::give_back`] if somebody else has the lease.
    Assign {
        /// The attempt.
        attempt: AttemptId,
        /// The device; a build has none.
        device: Option<DeviceId>,
    },
    /// The bench failed before the tests began; the task waits for another attempt.
    Requeue {
        /// The attempt that ended.
        attempt: AttemptId,
        /// How.
        ending: Ending,
    },
    /// End the attempt, make its device safe, and report [`Scheduler::ended`].
    Stop {
        /// The attempt.
        attempt: AttemptId,
        /// Why.
        ending: Ending,
        /// It was told to stop before but did not: kill what is left.
        hard: bool,
    },
    /// No device will do for the task, which ends for that reason: [`unmatched`](crate::unmatched) says so.
    Unmatched {
        /// The task.
        task: TaskId,
        /// What each device of the organisation lacks.
        misfits: Vec<(DeviceId, String)>,
    },
    /// The task is over.
    TaskEnded {
        /// The task.
        task: TaskId,
        /// Its last attempt, if that had begun.
        attempt: Option<AttemptId>,
        /// How.
        ending: Ending,
    },
    /// The job is over. The scheduler forgets it.
    Finish {
        /// The job.
        job: JobId,
        /// Its axes, finished.
        axes: Axes,
        /// The most informative ending of its tasks.
        ending: Ending,
        /// Devices on which those of its tasks failed that are themselves blamed, since they failed
        /// on several.
        blamed: Vec<DeviceId>,
    },
    /// No job gets the device until a person re-admits it.
    Quarantine {
        /// The device.
        device: DeviceId,
        /// Why.
        quarantine: Quarantine,
    },
    /// After [`Scheduler::drain`]: nothing is running any more.
    Drained,
}

/// Jobs that are not finished, the devices, and who has what.
#[derive(Debug)]
pub struct Scheduler<R: Requirement> {
    pub(crate) limits: Limits,
    pub(crate) accounts: Accounts,
    pub(crate) devices: Devices<R::Device>,
    pub(crate) groups: Groups<R>,
    pub(crate) jobs: BTreeMap<u64, Job>,
    pub(crate) numbers: HashMap<JobId, u64>,
    next_number: u64,
    epoch: u64,
    pub(crate) lines: Lines,
    active: BTreeSet<TaskKey>,
    pub(crate) builds_running: u32,
    timers: BTreeSet<(u64, Timer)>,
    pub(crate) is_draining: bool,
    pub(crate) now_ms: u64,
}

impl<R: Requirement> Scheduler<R> {
    /// A scheduler without jobs and devices. `epoch` is the greatest that was ever assigned, 0 on a new
    /// server.
    #[must_use]
    pub fn new(limits: Limits, epoch: u64) -> Self {
        Self {
            limits,
            accounts: Accounts::default(),
            devices: Devices::new(),
            groups: Groups::new(),
            jobs: BTreeMap::new(),
            numbers: HashMap::new(),
            next_number: 0,
            epoch,
            lines: Lines::default(),
            active: BTreeSet::new(),
            builds_running: 0,
            timers: BTreeSet::new(),
            is_draining: false,
            now_ms: 0,
        }
    }

    /// Somebody submits a job.
    ///
    /// # Errors
    /// The queue is full, or the tasks contradict themselves; nothing has changed.
    pub fn submit(
        &mut self,
        submission: Submission<R>,
        now_ms: u64,
    ) -> Result<Vec<Decision>, Refused> {
        self.at(now_ms);
        let user = self.check(&submission)?;
        let mut decisions = Vec::new();
        let number = self.enter(submission, user, self.now_ms);
        for task in self.jobs[&number].numbers() {
            self.queue_if_ready((number, task));
        }
        self.count_queued(number);
        // All others have had their chance, and no device has become free since.
        self.pass(Some(user), &mut decisions);
        Ok(decisions)
    }

    /// Whether a job may have so many tasks.
    ///
    /// # Errors
    /// [`Refused::Tasks`].
    pub fn may_have(&self, count: usize) -> Result<(), Refused> {
        let max = self.limits.tasks_max;
        match (1..=max).contains(&count) {
            true => Ok(()),
            false => Err(Refused::Tasks { count, max }),
        }
    }

    /// Somebody ends a job; nothing happens if it has finished or is already ending.
    pub fn cancel(&mut self, job: &JobId, now_ms: u64) -> Vec<Decision> {
        self.at(now_ms);
        let mut decisions = Vec::new();
        if let Some(&number) = self.numbers.get(job) {
            self.stop_job(number, Ending::Cancelled, &mut decisions);
            self.pass(None, &mut decisions);
        }
        decisions
    }

    /// The server is about to stop: nothing more starts. Waiting jobs stay queued and are stored as
    /// queued.
    pub fn drain(&mut self, now_ms: u64) -> Vec<Decision> {
        self.at(now_ms);
        self.is_draining = true;
        let mut decisions = Vec::new();
        self.note_drained(&mut decisions);
        decisions
    }

    /// The axes of an unfinished job.
    #[must_use]
    pub fn axes(&self, job: &JobId) -> Option<Axes> {
        Some(self.job(job)?.axes)
    }

    /// Unfinished jobs, in the order of submission.
    pub fn jobs(&self) -> impl Iterator<Item = &JobId> {
        self.jobs.values().map(|job| &job.id)
    }

    pub(crate) fn job(&self, id: &JobId) -> Option<&Job> {
        self.jobs.get(self.numbers.get(id)?)
    }

    /// Time moves forward, never back.
    fn at(&mut self, now_ms: u64) {
        self.now_ms = self.now_ms.max(now_ms);
    }

    fn check(&mut self, submission: &Submission<R>) -> Result<usize, Refused> {
        if self.is_draining {
            return Err(Refused::Draining);
        }
        if self.numbers.contains_key(&submission.job) {
            return Err(Refused::Known(submission.job.clone()));
        }
        self.may_have(submission.tasks.len())?;
        for (task, spec) in (0..).zip(&submission.tasks) {
            if let Some(&needs) = spec.needs.iter().find(|needs| **needs >= task) {
                return Err(Refused::Needs { task, needs });
            }
        }
        let user = self.accounts.user(&submission.org, &submission.user);
        self.accounts.may_queue(user, &self.limits)?;
        Ok(user)
    }

    /// Adds a job with all its tasks blocked; returns its number.
    fn enter(&mut self, submission: Submission<R>, user: usize, submitted_ms: u64) -> u64 {
        let org = self.accounts.org_of(user);
        let groups = &mut self.groups;
        let tasks = submission.tasks.into_iter().map(|task| TaskEntry {
            kind: match task.work {
                Work::Build => Kind::Build,
                Work::Bench(requirement) => Kind::Bench(groups.enter(org, requirement)),
            },
            needs: task.needs,
            run_ms: task.run_ms,
            state: TaskState::Blocked,
            retries: 0,
            restarts: 0,
            failed_on: Vec::new(),
            queued_ms: 0,
            deadline_ms: None,
        });
        let job = Job {
            id: submission.job.clone(),
            user,
            class: submission.class,
            submitted_ms,
            retries_max: submission.retries_max,
            clocks: submission.clocks,
            axes: Axes::default(),
            attempts: 0,
            deaths: 0,
            begun_ms: None,
            is_queued: false,
            tasks: tasks.collect(),
        };
        let number = self.next_number;
        self.next_number += 1;
        self.jobs.insert(number, job);
        self.numbers.insert(submission.job, number);
        let advances = self.advances();
        self.accounts.job_begins(user, &advances);
        number
    }

    /// A blocked task whose needs have passed now waits for a place.
    fn queue_if_ready(&mut self, key: TaskKey) {
        let job = &self.jobs[&key.0];
        if matches!(job.task(key.1).state, TaskState::Blocked) && job.is_ready(key.1) {
            self.queue(key);
        }
    }

    fn queue(&mut self, key: TaskKey) {
        let Some(job) = self.jobs.get_mut(&key.0) else {
            return;
        };
        let now_ms = self.now_ms;
        let entry = job.task_mut(key.1);
        entry.state = TaskState::Waiting;
        entry.queued_ms = now_ms;
        let kind = entry.kind;
        self.lines.add(job.line(key.1), key, job.submitted_ms);
        self.set_clock(key, None);
        let has_prospect = match kind {
            Kind::Build => true,
            Kind::Bench(group) => self.has_prospect(group),
        };
        self.set_wait_clock(key, has_prospect);
        self.count_queued(key.0);
    }

    /// Maintains the counts of queued jobs.
    fn count_queued(&mut self, number: u64) {
        let Some(job) = self.jobs.get_mut(&number) else {
            return;
        };
        let is_queued = job.tasks.iter().any(TaskEntry::is_open);
        if is_queued != job.is_queued {
            job.is_queued = is_queued;
            self.accounts.count_queued(job.user, is_queued);
        }
    }

    /// Ends a job: waiting tasks are over, running ones are told to stop.
    fn stop_job(&mut self, number: u64, ending: Ending, out: &mut Vec<Decision>) {
        let Some(job) = self.jobs.get_mut(&number) else {
            return;
        };
        if job.axes.state() >= State::Stopping {
            return;
        }
        job.axes.end(ending.ended_because());
        job.axes.advance(State::Stopping);
        for task in job.numbers() {
            // The last task that is settled finishes the job.
            let Some(entry) = self.jobs.get(&number).map(|job| job.task(task)) else {
                return;
            };
            if entry.is_open() {
                self.settle((number, task), ending, None, out);
            } else {
                self.stop_attempt((number, task), ending, out);
            }
        }
    }

    /// A task is over, and unless it passed, so are those that need it.
    fn settle(
        &mut self,
        key: TaskKey,
        ending: Ending,
        attempt: Option<AttemptId>,
        out: &mut Vec<Decision>,
    ) {
        let Some(job) = self.jobs.get_mut(&key.0) else {
            return;
        };
        let line = job.line(key.1);
        let entry = job.task_mut(key.1);
        if matches!(entry.state, TaskState::Settled(_)) {
            return;
        }
        entry.state = TaskState::Settled(ending);
        self.lines.remove(line, key);
        if ending.verdict() == Verdict::Failure {
            job.axes.judge(Verdict::Failure);
        }
        if ending.ended_because() != EndedBecause::Completed {
            job.axes.end(ending.ended_because());
        }
        let task = job.task_id(key.1);
        let dependents: Vec<u32> = (key.1..job.numbers().end)
            .filter(|other| job.task(*other).needs.contains(&key.1))
            .collect();
        out.push(Decision::TaskEnded {
            task,
            attempt,
            ending,
        });
        self.set_clock(key, None);
        for dependent in dependents {
            if ending == Ending::Passed {
                self.queue_if_ready((key.0, dependent));
            } else {
                self.settle((key.0, dependent), Ending::Skipped, None, out);
            }
        }
        self.count_queued(key.0);
        self.finish_if_settled(key.0, out);
    }

    fn finish_if_settled(&mut self, number: u64, out: &mut Vec<Decision>) {
        let is_settled = |entry: &TaskEntry| matches!(entry.state, TaskState::Settled(_));
        let Some(job) = self.jobs.get_mut(&number) else {
            return;
        };
        if !job.tasks.iter().all(is_settled) {
            return;
        }
        job.axes.end(EndedBecause::Completed);
        job.axes.judge(Verdict::Success);
        job.axes.advance(State::Finished);
        let (user, begun) = (job.user, job.begun_ms);
        out.push(Decision::Finish {
            job: job.id.clone(),
            axes: job.axes,
            ending: job.ending(),
            blamed: job.blamed(),
        });
        if let Some(begun_ms) = begun {
            let deadline = begun_ms.saturating_add(job.clocks.job_ms);
            self.timers.remove(&(deadline, Timer::Job(number)));
        }
        for entry in &job.tasks {
            if let Kind::Bench(group) = entry.kind {
                self.groups.leave(group);
            }
        }
        self.numbers.remove(&job.id);
        self.jobs.remove(&number);
        self.accounts.job_ends(user);
    }

    fn note_drained(&self, out: &mut Vec<Decision>) {
        if self.is_draining && self.active.is_empty() {
            out.push(Decision::Drained);
        }
    }

    /// Whether the bench failed: then nothing is known about the firmware, and another attempt may
    /// show more.
    fn is_of_bench(ending: Ending) -> bool {
        match ending {
            Ending::Infra(infra) => infra.may_pass(),
            _ => ending == Ending::TimedOut(Clock::Start),
        }
    }
}
