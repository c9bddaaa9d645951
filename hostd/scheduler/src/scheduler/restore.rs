//! What is stored about a job, and how the queue is rebuilt from it after a restart, orderly or
//! not.

use serde::{Deserialize, Serialize};

use super::{Decision, Scheduler, Timer};
use crate::axes::{Axes, State};
use crate::cause::{Ending, Infra};
use crate::groups::Kind;
use crate::limits::{DEATHS_MAX, Limits, RESTARTS_MAX};
use crate::names::{AttemptId, DeviceId, JobId, OrgId};
use crate::submission::{Requirement, Submission, Task, Work};
use crate::task::{Job, TaskEntry, TaskState};

/// An unfinished job in its stored form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stored<R> {
    /// As it was submitted.
    pub submission: Submission<R>,
    /// When it was submitted.
    pub submitted_ms: u64,
    /// Its axes.
    pub axes: Axes,
    /// Attempts so far.
    pub attempts: u32,
    /// Deaths of the server while it ran.
    #[serde(default)]
    pub deaths: u32,
    /// When its first task was assigned.
    pub begun_ms: Option<u64>,
    /// Its tasks, in the order of the submission.
    pub tasks: Vec<StoredTask>,
}

/// How the server ended that ran before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Before {
    /// In good order, whether or not all attempts had ended.
    Stopped,
    /// In the middle, as when there was no more memory.
    Died,
}

/// A task in its stored form.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredTask {
    /// How it ended, if it has.
    pub ending: Option<Ending>,
    /// The number and epoch of its attempt, while it has a place.
    pub attempt: Option<(u32, u64)>,
    /// Whether a test has produced output in that attempt.
    pub first_output: bool,
    /// Number of attempts in which the bench failed.
    pub retries: u32,
    /// Number of attempts that were ended by a restart of the server.
    pub restarts: u32,
    /// Devices on which the bench failed while it ran there.
    pub failed_on: Vec<DeviceId>,
}

impl<R: Requirement> Scheduler<R> {
    /// Rebuilds the queue from what was stored, in the order of submission. Nothing is running any more: an
    /// attempt in which no test has produced output is requeued, any other has ended. A job that ran when the
    /// server died, and had run at an earlier death of it, ends too. Then make the devices known, [`device_known`](Self::device_known) first.
    /// `orgs` are all organisations, with jobs or not.
    ///
    /// Also returns, last, the jobs that were left out because they contradict themselves; none that came
    /// from [`stored`](Self::stored) does.
    #[must_use]
    pub fn restore(
        limits: Limits,
        epoch: u64,
        orgs: &[OrgId],
        jobs: Vec<Stored<R>>,
        before: Before,
        now_ms: u64,
    ) -> (Self, Vec<Decision>, Vec<JobId>) {
        let mut scheduler = Self::new(limits, epoch);
        scheduler.at(now_ms);
        for org in orgs {
            scheduler.accounts.org(org);
        }
        let mut decisions = Vec::new();
        let mut refused = Vec::new();
        for job in jobs {
            let same = job.tasks.len() == job.submission.tasks.len();
            let id = job.submission.job.clone();
            let needs = job.submission.tasks.iter().zip(0..);
            let ordered = needs
                .flat_map(|(task, at)| task.needs.iter().map(move |need| *need < at))
                .all(|is_before| is_before);
            if !same || !ordered || scheduler.numbers.contains_key(&id) {
                refused.push(id);
                continue;
            }
            scheduler.restore_job(job, before, &mut decisions);
        }
        scheduler.pass(None, &mut decisions);
        (scheduler, decisions, refused)
    }

    /// What to store about an unfinished job.
    #[must_use]
    pub fn stored(&self, id: &JobId) -> Option<Stored<R>> {
        let job = self.job(id)?;
        let tasks = job.tasks.iter().map(|entry| StoredTask {
            ending: match entry.state {
                TaskState::Settled(ending) => Some(ending),
                _ => None,
            },
            attempt: entry.attempt().map(|a| (a.number, a.epoch)),
            first_output: entry.attempt().is_some_and(|a| a.first_output),
            retries: entry.retries,
            restarts: entry.restarts,
            failed_on: entry.failed_on.clone(),
        });
        Some(Stored {
            submission: self.submission(job),
            submitted_ms: job.submitted_ms,
            axes: job.axes,
            attempts: job.attempts,
            deaths: job.deaths,
            begun_ms: job.begun_ms,
            tasks: tasks.collect(),
        })
    }
}

impl<R: Requirement> Scheduler<R> {
    fn submission(&self, job: &Job) -> Submission<R> {
        let org = self.accounts.org_of(job.user);
        let tasks = job.tasks.iter().filter_map(|entry| {
            let work = match entry.kind {
                Kind::Build => Work::Build,
                Kind::Bench(group) => Work::Bench(self.groups.requirement(group)?.1.clone()),
            };
            Some(Task {
                work,
                needs: entry.needs.clone(),
                run_ms: entry.run_ms,
            })
        });
        Submission {
            job: job.id.clone(),
            org: self.accounts.org_name(org).clone(),
            user: self.accounts.user_name(job.user).clone(),
            class: job.class,
            tasks: tasks.collect(),
            retries_max: job.retries_max,
            clocks: job.clocks,
        }
    }

    fn restore_job(&mut self, stored: Stored<R>, before: Before, out: &mut Vec<Decision>) {
        let submission = stored.submission;
        let user = self.accounts.user(&submission.org, &submission.user);
        let number = self.enter(submission, user, stored.submitted_ms);
        let Some(job) = self.jobs.get_mut(&number) else {
            return;
        };
        job.axes = stored.axes;
        job.attempts = stored.attempts;
        let ran = stored.tasks.iter().any(|task| task.attempt.is_some());
        job.deaths = stored.deaths + u32::from(ran && before == Before::Died);
        job.begun_ms = stored.begun_ms;
        if let Some(begun_ms) = job.begun_ms {
            let deadline = begun_ms.saturating_add(job.clocks.job_ms);
            self.timers.insert((deadline, Timer::Job(number)));
        }
        let stopped = match job.axes.state() {
            State::Stopping => Some(job.ending()),
            _ if job.deaths > DEATHS_MAX => Some(Ending::Infra(Infra::ServerDied)),
            _ => None,
        };
        let mut over: Vec<(u32, Ending, Option<AttemptId>)> = Vec::new();
        for (task, stored) in (0..).zip(stored.tasks) {
            let attempt = stored.attempt.map(|(number, epoch)| AttemptId {
                task: job.task_id(task),
                number,
                epoch,
            });
            if let Some(attempt) = &attempt {
                self.epoch = self.epoch.max(attempt.epoch);
            }
            match restore_task(job.task_mut(task), stored, attempt.is_some(), stopped) {
                Some(ending) => over.push((task, ending, attempt)),
                None => out.extend(attempt.map(|attempt| Decision::Requeue {
                    attempt,
                    ending: Ending::Infra(Infra::ServerRestarted),
                })),
            }
        }
        for (task, ending, attempt) in over {
            self.settle((number, task), ending, attempt, out);
        }
        self.skip_or_queue(number, out);
        self.finish_if_settled(number, out);
    }

    /// Tasks that had not been decided about when the server went down.
    fn skip_or_queue(&mut self, number: u64, out: &mut Vec<Decision>) {
        let tasks = self.jobs.get(&number).map_or(0..0, Job::numbers);
        for task in tasks {
            let Some(job) = self.jobs.get(&number) else {
                return;
            };
            let failed = |need: &u32| match job.task(*need).state {
                TaskState::Settled(ending) => ending != Ending::Passed,
                _ => false,
            };
            if job.task(task).is_open() && job.task(task).needs.iter().any(failed) {
                self.settle((number, task), Ending::Skipped, None, out);
            } else {
                self.queue_if_ready((number, task));
            }
        }
        self.count_queued(number);
    }
}

/// Restores a task; returns how it ended, if the restart or an earlier stop ended it.
fn restore_task(
    entry: &mut TaskEntry,
    stored: StoredTask,
    was_active: bool,
    stopped: Option<Ending>,
) -> Option<Ending> {
    entry.retries = stored.retries;
    entry.restarts = stored.restarts;
    entry.failed_on = stored.failed_on;
    if let Some(ending) = stored.ending {
        entry.state = TaskState::Settled(ending);
        return None;
    }
    if stopped.is_some() {
        return stopped;
    }
    if !was_active {
        return None;
    }
    if stored.first_output || entry.restarts >= RESTARTS_MAX {
        return Some(Ending::Infra(Infra::ServerRestarted));
    }
    entry.restarts += 1;
    None
}
