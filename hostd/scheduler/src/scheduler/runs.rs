//! What attempts report, and how they end.

use super::{Decision, Scheduler};
use crate::axes::State;
use crate::cause::{Ending, Infra};
use crate::names::{AttemptId, DeviceId};
use crate::submission::Requirement;
use crate::task::{Attempt, TaskKey, TaskState};

impl<R: Requirement> Scheduler<R> {
    /// The first step of an attempt runs. Returns whether the attempt is still current.
    pub fn started(&mut self, id: &AttemptId, now_ms: u64) -> bool {
        self.at(now_ms);
        let Some(key) = self.present(id) else {
            return false;
        };
        let Some(job) = self.jobs.get_mut(&key.0) else {
            return false;
        };
        job.axes.advance(State::Running);
        let deadline = self.now_ms.saturating_add(job.task(key.1).run_ms);
        let is_first = job.task_mut(key.1).attempt_mut().is_some_and(|attempt| {
            let is_first = attempt.state == State::Assigned;
            if is_first {
                attempt.state = State::Running;
            }
            is_first
        });
        if is_first {
            self.set_clock(key, Some(deadline));
        }
        true
    }

    /// The first output of a test was seen, so the task is never run again without a request. Store
    /// this before anybody is shown the output. Returns whether the attempt is still current.
    pub fn first_output(&mut self, id: &AttemptId, now_ms: u64) -> bool {
        self.at(now_ms);
        let key = self.present(id);
        let attempt = key.and_then(|key| {
            let job = self.jobs.get_mut(&key.0)?;
            job.task_mut(key.1).attempt_mut()
        });
        let is_present = attempt.is_some();
        if let Some(attempt) = attempt {
            attempt.first_output = true;
        }
        is_present
    }

    /// An attempt has ended, and nothing of it is left; a device that still must be made safe was
    /// reported as [`held`](Self::held) before. Nothing happens if the attempt is not current, so
    /// this may be reported twice. The first reason to end the attempt counts, not what came of it.
    pub fn ended(&mut self, id: &AttemptId, ending: Ending, now_ms: u64) -> Vec<Decision> {
        self.at(now_ms);
        let mut decisions = Vec::new();
        if let Some(key) = self.present(id) {
            self.conclude(key, ending, &mut decisions);
            self.pass(None, &mut decisions);
            self.note_drained(&mut decisions);
        }
        decisions
    }

    /// An assigned attempt could not begin, because somebody else has the device: it counts as never
    /// made, and the task returns to its place in the queue.
    pub fn give_back(
        &mut self,
        id: &AttemptId,
        holder: &str,
        expires_ms: Option<u64>,
        now_ms: u64,
    ) -> Vec<Decision> {
        self.at(now_ms);
        let mut decisions = Vec::new();
        let Some(key) = self.present(id) else {
            return decisions;
        };
        let attempt = self.jobs[&key.0].task(key.1).attempt();
        let ending = attempt.and_then(|attempt| attempt.ending);
        if let Some(device) = attempt.and_then(|attempt| attempt.device)
            && let Some(device) = self.devices.get_mut(device)
        {
            device.held = Some(crate::devices::Held {
                holder: holder.to_owned(),
                expires_ms,
            });
        }
        match ending {
            Some(ending) => self.conclude(key, ending, &mut decisions),
            None => {
                self.take(key, false);
                self.queue(key);
            }
        }
        self.pass(None, &mut decisions);
        self.note_drained(&mut decisions);
        decisions
    }

    /// The task whose current attempt this is.
    fn present(&self, id: &AttemptId) -> Option<TaskKey> {
        let number = *self.numbers.get(&id.task.job)?;
        let job = &self.jobs[&number];
        let attempt = job.tasks.get(id.task.task as usize)?.attempt()?;
        let is_present = (attempt.number, attempt.epoch) == (id.number, id.epoch);
        is_present.then_some((number, id.task.task))
    }

    /// Tells an attempt to stop, once.
    pub(super) fn stop_attempt(&mut self, key: TaskKey, ending: Ending, out: &mut Vec<Decision>) {
        let Some(job) = self.jobs.get_mut(&key.0) else {
            return;
        };
        let stop_ms = job.clocks.stop_ms;
        let Some(attempt) = job.task_mut(key.1).attempt_mut() else {
            return;
        };
        if attempt.ending.is_some() {
            return;
        }
        attempt.ending = Some(ending);
        attempt.state = State::Stopping;
        let stop = Decision::Stop {
            attempt: self.attempt_id(key),
            ending,
            hard: false,
        };
        out.push(stop);
        self.set_clock(key, Some(self.now_ms.saturating_add(stop_ms)));
    }

    /// The current attempt of a task that is known to be active.
    pub(super) fn attempt_id(&self, key: TaskKey) -> AttemptId {
        let job = &self.jobs[&key.0];
        let attempt = job.task(key.1).attempt();
        AttemptId {
            task: job.task_id(key.1),
            number: attempt.map_or(0, |attempt| attempt.number),
            epoch: attempt.map_or(0, |attempt| attempt.epoch),
        }
    }

    /// Takes the place from a task, which becomes blocked; returns its former attempt, if it had
    /// one.
    pub(super) fn take(&mut self, key: TaskKey, has_run: bool) -> Option<Attempt> {
        let job = self.jobs.get_mut(&key.0)?;
        let user = job.user;
        let entry = job.task_mut(key.1);
        entry.attempt()?;
        let TaskState::Active(attempt) = std::mem::replace(&mut entry.state, TaskState::Blocked)
        else {
            return None;
        };
        match attempt.device {
            Some(device) => self.devices.release(device),
            None => self.builds_running -= 1,
        }
        self.active.remove(&key);
        let used = has_run.then_some(self.now_ms - attempt.assigned_ms);
        self.accounts
            .run_ends(user, attempt.is_build(), attempt.charged_ms, used);
        Some(attempt)
    }

    /// An attempt is over: its place is free, and the task waits for another one or is over too.
    pub(super) fn conclude(&mut self, key: TaskKey, ending: Ending, out: &mut Vec<Decision>) {
        let id = self.attempt_id(key);
        let device = self.jobs[&key.0].task(key.1).attempt();
        let device = device.and_then(|attempt| attempt.device);
        let device = device.and_then(|number| Some(self.devices.get(number)?.id.clone()));
        let Some(attempt) = self.take(key, true) else {
            return;
        };
        let ending = attempt.ending.unwrap_or(ending);
        if let Some(device) = device {
            self.note_health(key, &device, ending, out);
        }
        if self.may_retry(key, &attempt, ending) {
            if let Some(job) = self.jobs.get_mut(&key.0) {
                job.task_mut(key.1).retries += 1;
            }
            out.push(Decision::Requeue {
                attempt: id,
                ending,
            });
            self.queue(key);
        } else {
            self.settle(key, ending, Some(id), out);
        }
    }

    fn may_retry(&self, key: TaskKey, attempt: &Attempt, ending: Ending) -> bool {
        let job = &self.jobs[&key.0];
        let entry = job.task(key.1);
        Self::is_of_bench(ending)
            && !attempt.first_output
            && !attempt.given_up
            && job.axes.state() < State::Stopping
            && entry.retries < job.retries_max
            && !entry.is_blamed()
    }

    /// Records what an ending means for the device and for the task.
    fn note_health(
        &mut self,
        key: TaskKey,
        id: &DeviceId,
        ending: Ending,
        out: &mut Vec<Decision>,
    ) {
        let Some(job) = self.jobs.get_mut(&key.0) else {
            return;
        };
        let Ending::Infra(infra) = ending else {
            if ending.verdict() != crate::Verdict::Pending
                && let Some(device) = self.devices.named_mut(id)
            {
                device.worked();
            }
            return;
        };
        if !infra.is_of_device() {
            return;
        }
        let entry = job.task_mut(key.1);
        if !entry.failed_on.contains(id) {
            entry.failed_on.push(id.clone());
        }
        if entry.is_blamed() {
            self.devices.acquit(&job.id);
            return;
        }
        let (job, user) = (job.id.clone(), job.user);
        let device = self.devices.named_mut(id);
        if let Some(quarantine) = device.and_then(|device| device.failed(&job, user)) {
            out.push(Decision::Quarantine {
                device: id.clone(),
                quarantine,
            });
        }
    }

    /// An attempt was told twice to stop but did not: it is given up, and nobody gets its device before
    /// a person has checked it.
    pub(super) fn give_up(&mut self, key: TaskKey, out: &mut Vec<Decision>) {
        let job = &self.jobs[&key.0];
        let device = job.task(key.1).attempt().and_then(|a| a.device);
        if let Some(device) = device.and_then(|number| self.devices.get_mut(number))
            && device.quarantine.is_none()
        {
            let quarantine = crate::Quarantine {
                reason: "an attempt on it did not stop when it was told to, twice".to_owned(),
                jobs: vec![job.id.clone()],
            };
            device.quarantine = Some(quarantine.clone());
            out.push(Decision::Quarantine {
                device: device.id.clone(),
                quarantine,
            });
        }
        let job = self.jobs.get_mut(&key.0);
        if let Some(attempt) = job.and_then(|job| job.task_mut(key.1).attempt_mut()) {
            attempt.given_up = true;
        }
        self.conclude(key, Ending::Infra(Infra::StuckStop), out);
    }
}
