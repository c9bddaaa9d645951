//! The clocks of tasks and jobs.

use super::{Decision, Scheduler};
use crate::axes::State;
use crate::cause::{Clock, Ending};
use crate::groups::Kind;
use crate::submission::Requirement;
use crate::task::{TaskKey, TaskState};

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
            TaskState::Waiting => {
                let ending = self.ending_of_wait(kind);
                return self.settle(key, ending, None, out);
            }
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

    fn ending_of_wait(&mut self, kind: Kind) -> Ending {
        let Kind::Bench(group) = kind else {
            return Ending::QueueTimeout;
        };
        let groups = &mut self.groups;
        let mut all = self.devices.all();
        if all.any(|(number, device)| groups.fits(group, number, device.org, &device.facts)) {
            Ending::QueueTimeout
        } else {
            Ending::NoMatchingDevice
        }
    }
}
