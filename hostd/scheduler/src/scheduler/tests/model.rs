//! The whole machine under random interleavings of people, devices, attempts, clocks and crashes that
//! lose everything but what was stored.
//!
//! What must hold after every step:
//!
//! 1. **No device twice**: at most one attempt has a device, and the attempt belongs to the device's
//!    organisation.
//! 2. **None lost**: every accepted job is unfinished or was finished exactly once.
//! 3. **None run twice past its first output**: no task is assigned again after its output was seen.
//! 4. **None idle**: there is no free device while a task waits that fits it and may run.
//! 5. **In order**: among tasks of one user, class and requirement, the first to come starts first.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use fastrand::Rng;

use super::*;
use crate::OrgId;
use crate::cause::{Failure, Infra};

const SEEDS: u64 = 120;
const STEPS: usize = 1200;
const ORGS: [&str; 2] = ["east", "west"];
const USERS: [&str; 3] = ["ann", "bob", "cem"];

#[derive(Default)]
struct Seen {
    finished: usize,
    requeued: usize,
    crashes: usize,
    stopped: usize,
    given_up: usize,
    moved: usize,
}

struct World {
    random: Rng,
    now_ms: u64,
    s: Scheduler<Need>,
    /// The content of the store: the scheduler's jobs after each step.
    store: BTreeMap<usize, Stored<Need>>,
    /// Number of each job, in the order of submission.
    jobs: HashMap<JobId, usize>,
    finished: HashSet<JobId>,
    /// Attempts that were assigned and have not reported their end.
    runs: HashMap<(TaskId, u32), (AttemptId, Option<DeviceId>)>,
    output_seen: HashSet<TaskId>,
    started_once: HashSet<TaskId>,
    /// Organisation and abilities of each device.
    devices: BTreeMap<DeviceId, (OrgId, u32)>,
    /// Devices that are away or held, as far as the scheduler was told.
    away: BTreeSet<DeviceId>,
    held: BTreeSet<DeviceId>,
    seen: Seen,
}

impl World {
    fn new(seed: u64) -> Self {
        Self {
            random: Rng::with_seed(seed),
            now_ms: 0,
            s: Scheduler::new(limits(), 0),
            store: BTreeMap::new(),
            jobs: HashMap::new(),
            finished: HashSet::new(),
            runs: HashMap::new(),
            output_seen: HashSet::new(),
            started_once: HashSet::new(),
            devices: BTreeMap::new(),
            away: BTreeSet::new(),
            held: BTreeSet::new(),
            seen: Seen::default(),
        }
    }

    fn step(&mut self) {
        self.now_ms += self.random.u64(..300);
        let decisions = match self.random.u8(..100) {
            0..30 => self.submit(),
            30..62 => self.report(),
            62..78 => self.device(),
            78..82 => {
                let job = self.random.choice(self.jobs.keys()).cloned();
                job.map_or(Vec::new(), |job| self.s.cancel(&job, self.now_ms))
            }
            82..98 => self.s.tick(self.now_ms),
            98 => {
                self.now_ms += self.random.u64(..20_000);
                self.s.tick(self.now_ms)
            }
            _ => self.crash(),
        };
        self.apply(decisions);
        self.check();
        let present: BTreeSet<JobId> = self.s.jobs().cloned().collect();
        self.store = present
            .iter()
            .map(|id| (self.jobs[id], self.s.stored(id).unwrap()))
            .collect();
    }

    fn submit(&mut self) -> Vec<Decision> {
        let id = format!("{}", self.jobs.len());
        let mut job = bench(&id, self.random.choice(USERS).unwrap(), 0);
        job.org = (*self.random.choice(ORGS).unwrap()).into();
        job.class = self
            .random
            .choice([Class::Low, Class::Normal, Class::High])
            .unwrap();
        job.retries_max = self.random.u32(..3);
        job.clocks.queue_ms = 20_000;
        job.tasks.clear();
        for at in 0..self.random.u32(1..4) {
            let work = if self.random.u8(..4) == 0 {
                Work::Build
            } else {
                Work::Bench(Need(1 << self.random.u8(..3)))
            };
            let needs = if at > 0 && self.random.bool() {
                vec![at - 1]
            } else {
                vec![]
            };
            job.tasks.push(task(work, &needs));
        }
        let number = self.jobs.len();
        match self.s.submit(job, self.now_ms) {
            Ok(decisions) => {
                self.jobs.insert(id.as_str().into(), number);
                decisions
            }
            Err(_) => Vec::new(),
        }
    }

    /// An attempt reports something.
    fn report(&mut self) -> Vec<Decision> {
        let mut keys: Vec<_> = self.runs.keys().cloned().collect();
        keys.sort();
        let Some(key) = self.random.choice(keys) else {
            return Vec::new();
        };
        let (attempt, device) = self.runs[&key].clone();
        match self.random.u8(..10) {
            0..3 => {
                self.s.started(&attempt, self.now_ms);
                Vec::new()
            }
            3..5 => {
                if self.s.first_output(&attempt, self.now_ms) {
                    self.output_seen.insert(attempt.task);
                }
                Vec::new()
            }
            5 if device.is_some() && !self.output_seen.contains(&attempt.task) => {
                self.runs.remove(&key);
                self.held.extend(device);
                self.s.give_back(&attempt, "zoe", None, self.now_ms)
            }
            _ => {
                let endings = [
                    Ending::Passed,
                    Ending::Passed,
                    Ending::Failed(Failure::Test),
                    Ending::Infra(Infra::ProbeUnreachable),
                    Ending::Infra(Infra::JailNotStarted),
                    Ending::TimedOut(Clock::Step),
                ];
                let ending = self.random.choice(endings).unwrap();
                self.runs.remove(&key);
                let decisions = self.s.ended(&attempt, ending, self.now_ms);
                assert!(self.s.ended(&attempt, ending, self.now_ms).is_empty());
                decisions
            }
        }
    }

    fn device(&mut self) -> Vec<Decision> {
        let name = format!("d{}", self.random.u8(..7));
        let id: DeviceId = name.as_str().into();
        match self.random.u8(..10) {
            0..4 => {
                let known = self.devices.get(&id).cloned();
                let (org, caps) = known.unwrap_or_else(|| {
                    let org = (*self.random.choice(ORGS).unwrap()).into();
                    (org, self.random.u32(1..8))
                });
                self.devices.insert(id.clone(), (org.clone(), caps));
                self.away.remove(&id);
                self.s.device_seen(&id, &org, caps, self.now_ms)
            }
            4 => {
                self.away.insert(id.clone());
                self.s.device_gone(&id, self.now_ms)
            }
            5 if self.devices.contains_key(&id) => {
                self.held.insert(id.clone());
                self.s.held(&id, "alice", None);
                Vec::new()
            }
            5..9 => {
                self.held.remove(&id);
                self.s.freed(&id, self.now_ms)
            }
            _ => self.s.readmit(&id, self.now_ms),
        }
    }

    /// The process dies; devices are still plugged in.
    fn crash(&mut self) -> Vec<Decision> {
        self.seen.crashes += 1;
        self.runs.clear();
        let stored = std::mem::take(&mut self.store).into_values().collect();
        let (s, mut decisions, refused) =
            Scheduler::restore(limits(), 0, &[], stored, Before::Stopped, self.now_ms);
        assert!(refused.is_empty());
        self.s = s;
        self.away.clear();
        for (id, (org, caps)) in &self.devices {
            self.s.device_known(id, org, *caps);
            if self.held.contains(id) {
                self.s.held(id, "alice", None);
            }
            decisions.extend(self.s.device_seen(id, org, *caps, self.now_ms));
        }
        decisions
    }

    fn apply(&mut self, decisions: Vec<Decision>) {
        for decision in decisions {
            match decision {
                Decision::Assign { attempt, device } => self.assigned(attempt, device),
                Decision::Requeue { attempt, .. } => {
                    self.seen.requeued += 1;
                    assert!(!self.output_seen.contains(&attempt.task));
                }
                Decision::Stop { .. } => self.seen.stopped += 1,
                Decision::TaskEnded {
                    attempt, ending, ..
                } => {
                    // Only an attempt that was given up has not reported this itself.
                    if let Some(attempt) = attempt
                        && self.runs.remove(&(attempt.task, attempt.number)).is_some()
                    {
                        self.seen.given_up += 1;
                    }
                    assert_ne!(ending, Ending::DefinitionError);
                }
                Decision::Finish { job, axes, .. } => {
                    assert_eq!(axes.state(), State::Finished);
                    assert!(self.finished.insert(job), "finished twice");
                    self.seen.finished += 1;
                }
                Decision::Quarantine { .. } | Decision::Unmatched { .. } | Decision::Drained => {}
            }
        }
    }

    fn assigned(&mut self, attempt: AttemptId, device: Option<DeviceId>) {
        assert!(
            !self.output_seen.contains(&attempt.task),
            "run again after output"
        );
        if let Some(device) = &device {
            let taken = self.runs.values().any(|(_, d)| d.as_ref() == Some(device));
            assert!(!taken, "{device} has two attempts");
            assert!(!self.away.contains(device) && !self.held.contains(device));
            let job = &self.s.jobs[&self.s.numbers[&attempt.task.job]];
            let org = self.s.accounts.org_name(self.s.accounts.org_of(job.user));
            assert_eq!(self.devices[device].0, *org);
        }
        if !self.started_once.insert(attempt.task.clone()) {
            self.seen.moved += 1;
        }
        let key = (attempt.task.clone(), attempt.number);
        assert!(self.runs.insert(key, (attempt, device)).is_none());
    }

    fn check(&self) {
        for id in self.jobs.keys() {
            let is_present = self.s.axes(id).is_some();
            assert!(is_present != self.finished.contains(id), "{id} is lost");
        }
        let limits = limits();
        assert!(self.s.accounts.running <= limits.running_max);
        assert_eq!(self.s.accounts.running as usize, self.runs.len());
        assert!(self.s.builds_running <= limits.build_slots);
        self.check_idle(&limits);
        self.check_order();
    }

    /// Checks every free device against every waiting task, one by one.
    fn check_idle(&self, limits: &Limits) {
        if self.s.accounts.running == limits.running_max {
            return;
        }
        for job in self.s.jobs.values() {
            if !self.s.accounts.may_run(job.user, limits) {
                continue;
            }
            let org = self.s.accounts.org_of(job.user);
            for entry in &job.tasks {
                if !matches!(entry.state, TaskState::Waiting) {
                    continue;
                }
                match entry.kind {
                    Kind::Build => {
                        let free = limits.build_slots - self.s.builds_running;
                        let may_build = self.s.accounts.may_build(job.user, free);
                        assert!(!may_build, "a slot is idle while {} waits", job.id);
                    }
                    Kind::Bench(group) => {
                        let need = self.s.groups.requirement(group).unwrap().1;
                        let idle = self.s.devices.all().find(|(_, device)| {
                            device.org == org
                                && device.is_free()
                                && need.misfit(&device.facts).is_none()
                        });
                        assert!(idle.is_none(), "{idle:?} is idle while {} waits", job.id);
                    }
                }
            }
        }
    }

    /// A task that was never assigned waits behind a later one only if the two differ.
    fn check_order(&self) {
        let mut waiting = BTreeMap::new();
        for (number, job) in &self.s.jobs {
            for (task, entry) in (0..).zip(&job.tasks) {
                let key = (*number, task);
                let fresh = !self.started_once.contains(&job.task_id(task));
                // A task that was blocked or given back could not start when others could.
                if matches!(entry.state, TaskState::Waiting) && fresh && entry.needs.is_empty() {
                    waiting.entry(job.line(task)).or_insert(key);
                }
            }
        }
        for key in self.runs.keys() {
            let number = self.s.numbers[&key.0.job];
            let job = &self.s.jobs[&number];
            let attempt = job.task(key.0.task).attempt().unwrap();
            if attempt.assigned_ms != self.s.now_ms || !job.task(key.0.task).needs.is_empty() {
                continue;
            }
            if let Some(first) = waiting.get(&job.line(key.0.task)) {
                assert!((number, key.0.task) < *first, "{key:?} overtook {first:?}");
            }
        }
    }
}

fn limits() -> Limits {
    Limits {
        queued_max: 40,
        queued_per_org_max: 30,
        queued_per_user_max: 15,
        running_max: 6,
        running_per_org_max: 5,
        running_per_user_max: 3,
        build_slots: 2,
        tasks_max: 4,
    }
}

#[test]
fn nothing_that_happens_in_whatever_order_breaks_a_promise() {
    let mut all = Seen::default();
    for seed in 1..=SEEDS {
        let mut world = World::new(seed);
        for _ in 0..STEPS {
            world.step();
        }
        // Things calm down: everything ends, and nothing is left over.
        for _ in 0..200 {
            world.now_ms += 30_000;
            let decisions = world.s.tick(world.now_ms);
            world.apply(decisions);
            world.check();
        }
        assert_eq!(world.finished.len(), world.jobs.len());
        assert!(world.s.timers.is_empty() && world.s.active.is_empty());
        assert_eq!(world.s.accounts.running, 0);
        let seen = world.seen;
        all.finished += seen.finished;
        all.requeued += seen.requeued;
        all.crashes += seen.crashes;
        all.stopped += seen.stopped;
        all.given_up += seen.given_up;
        all.moved += seen.moved;
    }
    assert!(all.finished > 10_000 && all.crashes > 500 && all.requeued > 1000);
    assert!(all.stopped > 1000 && all.given_up > 100 && all.moved > 1000);
}
