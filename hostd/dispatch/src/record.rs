//! The record of a job, kept in step with what the scheduler decides.

use std::sync::Arc;

use admission::{Held, Memory};
use evidence::redact::Masks;
use pipeline::plan::{Plan, Role};
use scheduler::{AttemptId, Axes, Ending, JobId, Stored};
use serde::Serialize;
use serde_json::Value;
use store::jobs::{Attempt, End, File, Job};
use store::measurements::{JOB_MAX, Measurement};
use store::notices::Standing;

use crate::ending::Told;
use crate::facts::Wants;

/// An unfinished job: what is stored of it. What is to be done is read from its pipeline when it is done.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// Its place in the queue is left out: the scheduler knows it. That it has one is there.
    pub(crate) job: Arc<Job>,
    /// How long it may take, in milliseconds.
    pub(crate) job_ms: u64,
    /// The memory that it takes.
    pub(crate) _held: Arc<Held>,
    /// What its programs have asked to be kept from view, and the memory that this takes.
    pub(crate) masks: Masks,
    pub(crate) _masked: Option<Arc<Held>>,
    /// How the job stands as far as others are told; none for one that is not queued yet.
    pub(crate) told: Option<Standing>,
}

/// How a run or an attempt stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It has not begun.
    Waiting,
    /// It has a place, or runs.
    Running,
    /// All its steps passed.
    Passed,
    /// The code or its test failed.
    Failed,
    /// The bench, the server or the pipeline is at fault: nothing is known about the code.
    Broken,
    /// Somebody ended it.
    Cancelled,
    /// It took or waited too long.
    TimedOut,
    /// It was not run.
    Skipped,
}

/// How a run or an attempt stands that has ended so.
#[must_use]
pub fn outcome_of(end: &End) -> Outcome {
    match serde_json::from_value(end.ending.clone()) {
        Ok(Ending::Passed) => Outcome::Passed,
        Ok(Ending::Failed(_)) => Outcome::Failed,
        Ok(Ending::TimedOut(_) | Ending::QueueTimeout) => Outcome::TimedOut,
        Ok(Ending::Cancelled) => Outcome::Cancelled,
        Ok(Ending::Skipped) => Outcome::Skipped,
        // What a later version has stored is told by its code and message.
        Ok(Ending::Infra(_) | Ending::NoMatchingDevice | Ending::DefinitionError) | Err(_) => {
            Outcome::Broken
        }
    }
}

/// How a run stands, by its place in the job.
#[must_use]
pub fn outcome_of_run(job: &Job, run: usize) -> Outcome {
    if let Some(end) = job.runs.get(run).and_then(|run| run.end.as_ref()) {
        return outcome_of(end);
    }
    let runs_now = |attempt: &Attempt| attempt.run as usize == run && attempt.end.is_none();
    match job.attempts.iter().any(runs_now) {
        true => Outcome::Running,
        false => Outcome::Waiting,
    }
}

/// The axes as they are stored.
pub(crate) fn axes_value(axes: Axes) -> Value {
    serde_json::to_value(axes).unwrap_or_default()
}

/// The axes of a stored job.
#[must_use]
pub fn axes(job: &Job) -> Axes {
    serde_json::from_value(job.axes.clone()).unwrap_or_default()
}

/// What the scheduler is told to restore.
///
/// # Errors
/// It was not stored by this version or one that it knows.
pub(crate) fn queue(job: &Job) -> Result<Stored<Wants>, serde_json::Error> {
    serde_json::from_value(job.queue.clone().unwrap_or_default())
}

/// The runs of a new job.
pub(crate) fn runs(plan: &Plan) -> Vec<store::jobs::Run> {
    let run = |run: &pipeline::plan::Run| store::jobs::Run {
        id: run.id.clone(),
        is_bench: matches!(run.role, Role::Bench { .. }),
        needs: run.needs.clone(),
        targets: match &run.role {
            Role::Build { targets, .. } => targets.clone(),
            Role::Bench { .. } => Vec::new(),
        },
        end: None,
    };
    plan.runs.iter().map(run).collect()
}

/// What an attempt left, when it has ended.
#[derive(Debug, Clone, Default)]
pub(crate) struct Left {
    pub(crate) told: Option<Told>,
    pub(crate) log_bytes: u64,
    /// Bytes of the description of its end.
    pub(crate) end_bytes: u64,
    pub(crate) files: Vec<File>,
    /// What it measured; what only the job's record knows is added when it is stored.
    pub(crate) measurements: Vec<Measurement>,
}

impl Left {
    /// Nothing but the word that the run is repeated.
    pub(crate) fn repeated(ending: Ending) -> Self {
        Self {
            told: Some(Told::of_repeated(ending)),
            ..Self::default()
        }
    }
}

impl Entry {
    /// None of whose programs has asked for anything to be kept from view: that is stored nowhere.
    pub(crate) fn new(job: Job, job_ms: u64, held: Held, told: Option<Standing>) -> Self {
        Self {
            job: Arc::new(job),
            job_ms,
            _held: Arc::new(held),
            masks: Masks::default(),
            _masked: None,
            told,
        }
    }

    pub(crate) fn id(&self) -> JobId {
        JobId::from(self.job.id.as_str())
    }

    fn job_mut(&mut self) -> &mut Job {
        Arc::make_mut(&mut self.job)
    }

    fn attempt_mut(&mut self, number: u32) -> Option<&mut Attempt> {
        let attempts = &mut self.job_mut().attempts;
        attempts.iter_mut().find(|attempt| attempt.number == number)
    }

    pub(crate) fn attempt(&self, number: u32) -> Option<&Attempt> {
        let mut attempts = self.job.attempts.iter();
        attempts.find(|attempt| attempt.number == number)
    }

    /// An attempt was given a place.
    pub(crate) fn assigned(
        &mut self,
        id: &AttemptId,
        bench: Option<(String, String)>,
        now_ms: u64,
    ) {
        let (device, lease_id) = bench.unzip();
        let job = self.job_mut();
        job.started_ms.get_or_insert(now_ms);
        job.attempts.push(Attempt {
            number: id.number,
            run: id.task.task,
            epoch: id.epoch,
            device,
            lease_id,
            assigned_ms: now_ms,
            started_ms: None,
            ended_ms: None,
            end: None,
            log_bytes: 0,
            files: Vec::new(),
            measured: 0,
        });
    }

    /// An attempt that was given a place could not take it: it never was.
    pub(crate) fn given_back(&mut self, number: u32) {
        self.job_mut()
            .attempts
            .retain(|attempt| attempt.number != number);
    }

    /// The first step of an attempt begins.
    pub(crate) fn started(&mut self, number: u32, now_ms: u64) {
        if let Some(attempt) = self.attempt_mut(number) {
            attempt.started_ms.get_or_insert(now_ms);
        }
    }

    /// An attempt has ended: what it left, and what the scheduler made of it. What it measured is returned, as far as the
    /// job may have so many.
    pub(crate) fn attempt_ended(
        &mut self,
        number: u32,
        ending: Ending,
        left: Left,
        now_ms: u64,
    ) -> Vec<Measurement> {
        let own = |attempt: &Attempt| attempt.measured;
        let before = self
            .job
            .attempts
            .iter()
            .map(own)
            .fold(0, u32::saturating_add);
        let reference = self.job.r#ref.clone();
        let Some(attempt) = self.attempt_mut(number) else {
            return Vec::new();
        };
        let mut measured = left.measurements;
        measured.truncate(JOB_MAX.saturating_sub(before) as usize);
        for one in &mut measured {
            one.r#ref.clone_from(&reference);
            one.device.clone_from(&attempt.device);
            one.at_ms = now_ms;
        }
        attempt.measured = u32::try_from(measured.len()).unwrap_or(u32::MAX);
        let end_bytes = left.end_bytes;
        let told = left.told.filter(|told| told.ending == ending);
        attempt.end = Some(told.unwrap_or_else(|| Told::of(ending)).stored());
        attempt.ended_ms = Some(now_ms);
        attempt.log_bytes = attempt.log_bytes.max(left.log_bytes);
        // What an attempt made that did not pass may be half of it, and may show why.
        attempt.files = left.files;
        let job = self.job_mut();
        job.other_bytes = job.other_bytes.saturating_add(end_bytes);
        measured
    }

    /// Counts what the job's programs have asked to be kept from view, which is kept until the job is over.
    pub(crate) fn count_masks(&mut self, memory: &Arc<Memory>) {
        let bytes = self.masks.bytes() as u64;
        let held = (bytes > 0).then(|| Arc::new(memory.note(&self.job.org, bytes)));
        self._masked = held;
    }

    /// The job waits, runs or is about to end.
    pub(crate) fn goes_on(&mut self, stored: &Stored<Wants>) {
        let job = self.job_mut();
        job.axes = axes_value(stored.axes);
        job.queue = Some(Value::Null);
    }

    /// What is stored of it.
    pub(crate) fn record(&self, stored: Option<&Stored<Wants>>) -> Job {
        let mut job = Job::clone(&self.job);
        if let Some(stored) = stored {
            job.queue = serde_json::to_value(stored).ok();
        }
        job
    }

    /// A run is over; its last attempt, if that had begun, has ended before.
    pub(crate) fn run_ended(&mut self, task: u32, last: Option<u32>, ending: Ending) {
        let last = last.and_then(|number| self.attempt(number)?.end.clone());
        end_run(self.job_mut(), task as usize, last, ending);
    }

    /// More is known of how a run ended than the scheduler's word.
    pub(crate) fn run_says(&mut self, task: u32, message: String) {
        let run = self.job_mut().runs.get_mut(task as usize);
        if let Some(end) = run.and_then(|run| run.end.as_mut()) {
            end.message = message;
        }
    }

    /// The job is over.
    pub(crate) fn finished(&mut self, axes: Axes, ending: Ending, blamed: &[String], now_ms: u64) {
        finish(self.job_mut(), axes, ending, blamed, now_ms);
    }

    /// The files of the last attempt at a run that passed.
    pub(crate) fn files_of(&self, run: &str) -> Option<&[File]> {
        let place = self.job.runs.iter().position(|known| known.id == run)?;
        let of_run = |attempt: &&Attempt| attempt.run as usize == place;
        let mut ended = self.job.attempts.iter().rev().filter(of_run);
        let passed = |end: &End| outcome_of(end) == Outcome::Passed;
        let attempt = ended.find(|attempt| attempt.end.as_ref().is_some_and(passed))?;
        Some(&attempt.files)
    }
}

/// A run is over, as its last attempt ended or as the scheduler says.
pub(crate) fn end_run(job: &mut Job, place: usize, last: Option<End>, ending: Ending) {
    if let Some(run) = job.runs.get_mut(place) {
        run.end = Some(last.unwrap_or_else(|| Told::of(ending).stored()));
    }
}

/// Ends all attempts and runs that have not ended.
pub(crate) fn end_what_is_open(job: &mut Job, ending: Ending, now_ms: u64) {
    for attempt in job.attempts.iter_mut().filter(|a| a.end.is_none()) {
        attempt.end = Some(Told::of(ending).stored());
        attempt.ended_ms.get_or_insert(now_ms);
    }
    for place in 0..job.runs.len() {
        if job.runs[place].end.is_none() {
            end_run(job, place, None, ending);
        }
    }
}

/// A job is over. What is told of it is what is told of the run that decided.
pub(crate) fn finish(job: &mut Job, axes: Axes, ending: Ending, blamed: &[String], now_ms: u64) {
    let is_it = |end: &&End| {
        serde_json::from_value::<Ending>(end.ending.clone()).is_ok_and(|of| of == ending)
    };
    let told = job.runs.iter().find_map(|run| {
        let end = run.end.as_ref().filter(is_it)?;
        Some((run.id.clone(), end.clone()))
    });
    let mut end = match told {
        Some((_, end)) if ending == Ending::Passed => end,
        Some((run, mut end)) => {
            end.message = format!("{run}: {}", end.message);
            end
        }
        None => Told::of(ending).stored(),
    };
    if !blamed.is_empty() {
        let devices = blamed.join(" and ");
        let suspect = format!(" It failed so on {devices}, which points at the job itself.");
        end.message.push_str(&suspect);
    }
    job.axes = axes_value(axes);
    job.queue = None;
    job.end = Some(end);
    job.finished_ms = Some(now_ms);
}
