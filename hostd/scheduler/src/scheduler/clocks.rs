//! The clocks of tasks and jobs.

use std::collections::HashMap;

use super::{Decision, Scheduler};
use crate::axes::State;
use crate::cause::{Clock, Ending};
use crate::groups::Kind;
use crate::limits::UNMATCHED_MS;
use crate::submission::Requirement;
use crate::task::{TaskKey, TaskState};
use crate::waits::misfits;

/// Which clock it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Timer {
    Task(TaskKey),
    Job(u64),
}

impl<R: Requirement> Scheduler<R> {
    /// When [`tick`](Self::tick) next has something to do, in milliseconds.
    #[must_use]
    pub fn next_deadline_ms(&self) -> Option<u64> {
        self.timers.first().map(|(deadline, _)| *deadline)
    }

    /// Time has passed: whatever took too long is ended.
    pub fn tick(&mut self, now_ms: u64) -> Vec<Decision> {
        self.at(now_ms);
        let mut decisions = Vec::new();
        while let Some(&(deadline, timer)) = self.timers.first()
            && deadline <= self.now_ms
        {
            self.timers.pop_first();
            match timer {
                Timer::Task(key) => self.ran_out(key, &mut decisions),
                Timer::Job(job) => {
                    self.stop_job(job, Ending::TimedOut(Clock::Job), &mut decisions);
                }
            }
        }
        if !decisions.is_empty() {
            self.pass(None, &mut decisions);
            self.note_drained(&mut decisions);
        }
        decisions
    }

    /// Sets the one clock that a task has at a time.
    pub(super) fn set_clock(&mut self, key: TaskKey, deadline_ms: Option<u64>) {
        let Some(job) = self.jobs.get_mut(&key.0) else {
            return;
        };
        let former = std::mem::replace(&mut job.task_mut(key.1).deadline_ms, deadline_ms);
        if let Some(former) = former {
            self.timers.remove(&(former, Timer::Task(key)));
        }
        if let Some(deadline) = deadline_ms {
            self.timers.insert((deadline, Timer::Task(key)));
        }
    }

    fn ran_out(&mut self, key: TaskKey, out: &mut Vec<Decision>) {
        let Some(job) = self.jobs.get_mut(&key.0) else {
            return;
        };
        let stop_ms = job.clocks.stop_ms;
        let entry = job.task_mut(key.1);
        entry.deadline_ms = None;
        let kind = entry.kind;
        let attempt = match &mut entry.state {
            TaskState::Waiting => return self.waited(key, kind, out),
            TaskState::Active(attempt) => attempt,
            TaskState::Blocked | TaskState::Settled(_) => return,
        };
        match attempt.state {
            State::Assigned => self.stop_attempt(key, Ending::TimedOut(Clock::Start), out),
            State::Stopping if attempt.hard => self.give_up(key, out),
            State::Stopping => {
                attempt.hard = true;
                let ending = attempt.ending.unwrap_or(Ending::Cancelled);
                out.push(Decision::Stop {
                    attempt: self.attempt_id(key),
                    ending,
                    hard: true,
                });
                self.set_clock(key, Some(self.now_ms.saturating_add(stop_ms)));
            }
            _ => self.stop_attempt(key, Ending::TimedOut(Clock::Task), out),
        }
    }

    /// A waiting task gets the time of its pipeline; or a short one, if no device will do.
    pub(super) fn set_wait_clock(&mut self, key: TaskKey, has_prospect: bool) {
        let Some(job) = self.jobs.get(&key.0) else {
            return;
        };
        let entry = job.task(key.1);
        let mut deadline = entry.queued_ms.saturating_add(job.clocks.queue_ms);
        if !has_prospect {
            let soon = self.now_ms.saturating_add(UNMATCHED_MS);
            // It does not begin again while that lasts.
            deadline = deadline.min(entry.deadline_ms.unwrap_or(soon)).min(soon);
        }
        if entry.deadline_ms != Some(deadline) {
            self.set_clock(key, Some(deadline));
        }
    }

    /// What is known of the devices has changed, so other tasks may wait in vain.
    pub(super) fn review_waits(&mut self) {
        let mut prospects = HashMap::new();
        for (group, key) in self.lines.benches() {
            let prospect = prospects.entry(group);
            let has_prospect = *prospect.or_insert_with(|| self.has_prospect(group));
            self.set_wait_clock(key, has_prospect);
        }
    }

    /// A task has waited too long.
    fn waited(&mut self, key: TaskKey, kind: Kind, out: &mut Vec<Decision>) {
        let ending = match kind {
            Kind::Bench(group) if !self.has_prospect(group) => {
                out.push(Decision::Unmatched {
                    task: self.jobs[&key.0].task_id(key.1),
                    misfits: misfits(&self.blocked_for(group)),
                });
                Ending::NoMatchingDevice
            }
            Kind::Bench(_) | Kind::Build => Ending::QueueTimeout,
        };
        self.settle(key, ending, None, out);
    }

    /// Whether a device that is known fits the group, or may turn out to.
    pub(super) fn has_prospect(&mut self, group: usize) -> bool {
        let groups = &mut self.groups;
        let mut all = self.devices.all();
        all.any(|(number, device)| match device.is_known() {
            // Remembered: with each device that changes, this is asked of all groups.
            true => groups.fits(group, number, device.org, &device.facts),
            false => groups
                .requirement(group)
                .is_some_and(|(org, wants)| device.org == org && device.may_fit(wants)),
        })
    }
}
