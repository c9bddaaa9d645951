//! Jobs and their tasks, kept until the job is finished.

use crate::axes::{Axes, EndedBecause, State};
use crate::cause::{Clock, Ending};
use crate::groups::Kind;
use crate::limits::BLAME_DEVICES;
use crate::names::{AttemptId, DeviceId, JobId, TaskId};
use crate::order::LineKey;
use crate::submission::{Class, Clocks};

/// The job's number in the order of submission, and the task's index in it.
pub(crate) type TaskKey = (u64, u32);

#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) id: JobId,
    pub(crate) user: usize,
    pub(crate) class: Class,
    pub(crate) submitted_ms: u64,
    pub(crate) retries_max: u32,
    pub(crate) clocks: Clocks,
    pub(crate) axes: Axes,
    /// Attempts so far.
    pub(crate) attempts: u32,
    /// Deaths of the server while it ran.
    pub(crate) deaths: u32,
    /// When the first task was assigned.
    pub(crate) begun_ms: Option<u64>,
    /// Whether it is counted among the queued.
    pub(crate) is_queued: bool,
    pub(crate) tasks: Vec<TaskEntry>,
}

#[derive(Debug)]
pub(crate) struct TaskEntry {
    pub(crate) kind: Kind,
    pub(crate) needs: Vec<u32>,
    pub(crate) run_ms: u64,
    pub(crate) state: TaskState,
    pub(crate) retries: u32,
    pub(crate) restarts: u32,
    /// Devices on which the bench failed while it ran there.
    pub(crate) failed_on: Vec<DeviceId>,
    /// When it was queued last.
    pub(crate) queued_ms: u64,
    /// When its current clock runs out.
    pub(crate) deadline_ms: Option<u64>,
}

#[derive(Debug)]
pub(crate) enum TaskState {
    /// Needs tasks that have not passed yet.
    Blocked,
    /// Waits for a place.
    Waiting,
    /// Has a place.
    Active(Attempt),
    Settled(Ending),
}

#[derive(Debug)]
pub(crate) struct Attempt {
    pub(crate) number: u32,
    pub(crate) epoch: u64,
    pub(crate) device: Option<usize>,
    /// Assigned, running or stopping.
    pub(crate) state: State,
    pub(crate) assigned_ms: u64,
    /// What its user has been charged so far.
    pub(crate) charged_ms: u64,
    pub(crate) first_output: bool,
    /// The first reason for ending it.
    pub(crate) ending: Option<Ending>,
    /// It was told to stop a second time.
    pub(crate) hard: bool,
    /// It did not stop, and may still be running.
    pub(crate) given_up: bool,
}

impl Attempt {
    /// Whether it has a slot of this machine, and no device.
    pub(crate) fn is_build(&self) -> bool {
        self.device.is_none()
    }
}

impl TaskEntry {
    pub(crate) fn attempt(&self) -> Option<&Attempt> {
        match &self.state {
            TaskState::Active(attempt) => Some(attempt),
            _ => None,
        }
    }

    pub(crate) fn attempt_mut(&mut self) -> Option<&mut Attempt> {
        match &mut self.state {
            TaskState::Active(attempt) => Some(attempt),
            _ => None,
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        matches!(self.state, TaskState::Blocked | TaskState::Waiting)
    }

    /// Whether it failed where other tasks do not.
    pub(crate) fn is_blamed(&self) -> bool {
        self.failed_on.len() >= BLAME_DEVICES
    }
}

impl Job {
    pub(crate) fn task(&self, task: u32) -> &TaskEntry {
        &self.tasks[task as usize]
    }

    pub(crate) fn task_mut(&mut self, task: u32) -> &mut TaskEntry {
        &mut self.tasks[task as usize]
    }

    pub(crate) fn numbers(&self) -> std::ops::Range<u32> {
        0..u32::try_from(self.tasks.len()).unwrap_or(u32::MAX)
    }

    pub(crate) fn task_id(&self, task: u32) -> TaskId {
        TaskId {
            job: self.id.clone(),
            task,
        }
    }

    pub(crate) fn attempt_id(&self, task: u32, attempt: &Attempt) -> AttemptId {
        AttemptId {
            task: self.task_id(task),
            number: attempt.number,
            epoch: attempt.epoch,
        }
    }

    pub(crate) fn line(&self, task: u32) -> LineKey {
        LineKey {
            user: self.user,
            class: self.class,
            kind: self.task(task).kind,
        }
    }

    /// Whether all tasks that `task` needs have passed.
    pub(crate) fn is_ready(&self, task: u32) -> bool {
        let passed =
            |need: &u32| matches!(self.task(*need).state, TaskState::Settled(Ending::Passed));
        self.task(task).needs.iter().all(passed)
    }

    /// The most informative ending: the one behind the reason on the axis, or the first failure.
    pub(crate) fn ending(&self) -> Ending {
        let settled = self.tasks.iter().filter_map(|task| match task.state {
            TaskState::Settled(ending) => Some(ending),
            _ => None,
        });
        let because = self.axes.ended_because().unwrap_or(EndedBecause::Completed);
        let mut telling = settled.filter(|ending| ending.ended_because() == because);
        if because == EndedBecause::Completed {
            return telling
                .find(|ending| matches!(ending, Ending::Failed(_)))
                .unwrap_or(Ending::Passed);
        }
        telling.next().unwrap_or(match because {
            EndedBecause::Timeout => Ending::TimedOut(Clock::Job),
            _ => Ending::Cancelled,
        })
    }

    /// The devices on which blamed tasks failed.
    pub(crate) fn blamed(&self) -> Vec<DeviceId> {
        let blamed = self.tasks.iter().filter(|task| task.is_blamed());
        blamed.flat_map(|task| task.failed_on.clone()).collect()
    }
}
