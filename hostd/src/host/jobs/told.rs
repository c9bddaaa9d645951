//! Jobs in the words of the contract.

use dispatch::{
    BlockedDevice, EndedBecause, JobCapture, Obstacle, Outcome, State, Status, Verdict, WhyRun,
    axes, message, outcome_of, outcome_of_run,
};
use serde_json::{Value, json};

use crate::host::bindings::hostd::host::jobs as w;
use base::clock;
use store::captures;
use store::jobs::{Attempt, End, File, Job, Run};

/// What followers are told of a job.
pub(super) fn news(job: &Job) -> Value {
    let axes = axes(job);
    let attempt = |attempt: &Attempt| {
        json!({
            "number": attempt.number,
            "run": run_id(job, attempt),
            "device": attempt.device,
            "outcome": attempt_outcome(attempt),
        })
    };
    json!({
        "id": job.id,
        "state": axes.state(),
        "ended_because": axes.ended_because(),
        "verdict": axes.verdict(),
        "status": axes.status(),
        "message": message(job),
        "attempts": job.attempts.iter().map(attempt).collect::<Vec<_>>(),
    })
}

fn run_id<'j>(job: &'j Job, attempt: &Attempt) -> &'j str {
    job.runs.get(attempt.run as usize).map_or("", |run| &run.id)
}

/// A job without its runs and attempts.
pub(super) fn head(job: &Job) -> w::Job {
    let axes = axes(job);
    let archive = job.archive.as_ref();
    w::Job {
        id: job.id.clone(),
        name: job.name.clone(),
        ref_: job.r#ref.clone(),
        commit: job.commit.clone(),
        state: state(axes.state()),
        ended_because: axes.ended_because().map(ended_because),
        verdict: verdict(axes.verdict()),
        status: status(axes.status()),
        message: message(job),
        user: job.user.clone(),
        retry_of: job.retry_of.clone(),
        archive: archive.map(|archive| w::Archive {
            size_bytes: archive.size_bytes,
            sha256: archive.sha256.clone(),
            entries: archive.entries,
            unpacked_bytes: archive.unpacked_bytes,
            ci_yaml: archive.definition.clone(),
        }),
        created_at: clock::text(job.created_ms),
        started_at: job.started_ms.map(clock::text),
        finished_at: job.finished_ms.map(clock::text),
        runs: Vec::new(),
        attempts: Vec::new(),
        captures: Vec::new(),
        measurements: Vec::new(),
    }
}

/// A job with its runs and attempts, but without what it recorded.
pub(super) fn to_wit(job: &Job) -> w::Job {
    let runs = job.runs.iter().enumerate();
    let attempts = job.attempts.iter();
    w::Job {
        runs: runs.map(|(place, of)| run(job, place, of)).collect(),
        attempts: attempts.map(|of| attempt(job, of)).collect(),
        ..head(job)
    }
}

fn run(job: &Job, place: usize, run: &Run) -> w::Run {
    let of_run = |attempt: &&Attempt| attempt.run as usize == place;
    let count = job.attempts.iter().filter(of_run).count();
    let (code, message) = told(run.end.as_ref());
    w::Run {
        id: run.id.clone(),
        is_bench: run.is_bench,
        needs: run.needs.clone(),
        targets: run.targets.clone(),
        outcome: outcome(outcome_of_run(job, place)),
        code,
        message,
        attempts: u32::try_from(count).unwrap_or(u32::MAX),
    }
}

fn attempt(job: &Job, attempt: &Attempt) -> w::Attempt {
    let (code, message) = told(attempt.end.as_ref());
    w::Attempt {
        number: attempt.number,
        run: run_id(job, attempt).to_owned(),
        device: attempt.device.clone(),
        outcome: outcome(attempt_outcome(attempt)),
        code,
        message,
        assigned_at: clock::text(attempt.assigned_ms),
        started_at: attempt.started_ms.map(clock::text),
        ended_at: attempt.ended_ms.map(clock::text),
        log_bytes: attempt.log_bytes,
    }
}

fn attempt_outcome(attempt: &Attempt) -> Outcome {
    attempt.end.as_ref().map_or(Outcome::Running, outcome_of)
}

/// Code and message of an end; what waits or runs has none.
fn told(end: Option<&End>) -> (Option<String>, String) {
    let code = end.map(|end| end.code.clone());
    (code, end.map(|end| end.message.clone()).unwrap_or_default())
}

pub(super) fn captured(capture: JobCapture) -> w::Captured {
    let JobCapture {
        record,
        origin,
        file,
    } = capture;
    w::Captured {
        id: record.id,
        run: origin.run,
        attempt: origin.attempt,
        step: origin.step,
        name: record.name.unwrap_or_default(),
        file,
        is_done: record.status == captures::Status::Done,
    }
}

pub(super) fn artifact((run, file, at_ms): (String, File, u64)) -> w::Artifact {
    w::Artifact {
        run,
        name: file.name,
        size_bytes: file.size_bytes,
        sha256: file.sha256,
        created_at: clock::text(at_ms),
    }
}

pub(super) fn why_run(run: WhyRun) -> w::WhyRun {
    let blocked = |device: BlockedDevice| w::Blocked {
        obstacle: obstacle(device.obstacle),
        device: device.device,
        detail: device.detail,
        until: device.until_ms.map(clock::text),
    };
    w::WhyRun {
        run: run.run,
        ahead: run
            .ahead
            .map(|ahead| u32::try_from(ahead).unwrap_or(u32::MAX)),
        devices: run.devices.into_iter().map(blocked).collect(),
        until: run.until_ms.map(clock::text),
        message: run.message,
    }
}

/// Each word of the one side is one of the other.
macro_rules! words {
    ($($name:ident: $ours:ident => $theirs:ident { $($case:ident),* $(,)? })*) => {$(
        fn $name(of: $ours) -> w::$theirs {
            match of {
                $($ours::$case => w::$theirs::$case,)*
            }
        }
    )*};
}

words! {
    state: State => State { Queued, Assigned, Running, Stopping, Finished }
    verdict: Verdict => Verdict { Pending, Success, Failure }
    obstacle: Obstacle => Obstacle { Misfit, Quarantined, Offline, Busy, Held, Free }
    status: Status => Status { New, InProgress, Stopping, Done, Failed, TimedOut }
    outcome: Outcome => Outcome {
        Waiting, Running, Passed, Failed, Broken, Cancelled, TimedOut, Skipped,
    }
    ended_because: EndedBecause => EndedBecause {
        Completed, Cancelled, QueueTimeout, Timeout, DeviceLost, NoMatchingDevice,
        DefinitionError, InfraError,
    }
}

pub(super) fn state_of(state: w::State) -> State {
    match state {
        w::State::Queued => State::Queued,
        w::State::Assigned => State::Assigned,
        w::State::Running => State::Running,
        w::State::Stopping => State::Stopping,
        w::State::Finished => State::Finished,
    }
}

pub(super) fn verdict_of(verdict: w::Verdict) -> Verdict {
    match verdict {
        w::Verdict::Pending => Verdict::Pending,
        w::Verdict::Success => Verdict::Success,
        w::Verdict::Failure => Verdict::Failure,
    }
}
