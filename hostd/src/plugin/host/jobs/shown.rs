//! A job in the words of the first-party endpoint.

use dispatch::{JobCapture, Outcome, axes, message, outcome_of, outcome_of_run};
use evidence::measurement::is_within;
use serde_json::{Value, json};
use store::captures::Status;
use store::jobs::{Attempt, End, Job, Run};
use store::measurements::Measurement;

use base::clock;

/// The members that `GET /api/jobs/{id}` shows.
pub(in crate::plugin) fn json(
    job: &Job,
    recorded: &[JobCapture],
    measured: &[Measurement],
) -> Value {
    let axes = axes(job);
    let archive = job.archive.as_ref().map(|archive| {
        json!({
            "size_bytes": archive.size_bytes,
            "sha256": archive.sha256,
            "entries": archive.entries,
            "unpacked_bytes": archive.unpacked_bytes,
            "ci_yaml": archive.definition,
        })
    });
    let runs = job.runs.iter().enumerate();
    let runs: Vec<Value> = runs.map(|(place, of)| run(job, place, of)).collect();
    let attempts: Vec<Value> = job.attempts.iter().map(|of| attempt(job, of)).collect();
    json!({
        "id": job.id,
        "name": job.name,
        "ref": job.r#ref,
        "commit": job.commit,
        "state": axes.state(),
        "ended_because": axes.ended_because(),
        "verdict": axes.verdict(),
        "status": axes.status(),
        "message": message(job),
        "user": job.user,
        "retry_of": job.retry_of,
        "archive": archive,
        "created_at": clock::text(job.created_ms),
        "started_at": job.started_ms.map(clock::text),
        "finished_at": job.finished_ms.map(clock::text),
        "runs": runs,
        "attempts": attempts,
        "captures": recorded.iter().map(capture).collect::<Vec<_>>(),
        "measurements": measured.iter().map(measurement).collect::<Vec<_>>(),
    })
}

fn capture(capture: &JobCapture) -> Value {
    let JobCapture {
        record,
        origin,
        file,
    } = capture;
    json!({
        "id": record.id,
        "run": origin.run,
        "attempt": origin.attempt,
        "step": origin.step,
        "name": record.name,
        "file": file,
        "is_done": record.status == Status::Done,
    })
}

fn measurement(measured: &Measurement) -> Value {
    let mut shown = json!({
        "name": measured.name,
        "value": measured.value,
        "unit": measured.unit,
        "is_within": is_within(measured.value, measured.low, measured.high),
        "job": measured.job,
        "run": measured.run,
        "attempt": measured.attempt,
        "step": measured.step,
        "at": clock::text(measured.at_ms),
    });
    let optional = [
        ("low", measured.low.map(|low| json!(low))),
        ("high", measured.high.map(|high| json!(high))),
        ("serial", measured.serial.as_ref().map(|of| json!(of))),
        ("ref", measured.r#ref.as_ref().map(|of| json!(of))),
        ("device", measured.device.as_ref().map(|of| json!(of))),
        (
            "device_name",
            measured.device_name.as_ref().map(|of| json!(of)),
        ),
    ];
    for (name, value) in optional {
        if let Some(value) = value {
            shown[name] = value;
        }
    }
    shown
}

fn run(job: &Job, place: usize, run: &Run) -> Value {
    let of_run = |attempt: &&Attempt| attempt.run as usize == place;
    let (code, message) = told(run.end.as_ref());
    json!({
        "id": run.id,
        "is_bench": run.is_bench,
        "needs": run.needs,
        "targets": run.targets,
        "outcome": outcome_of_run(job, place),
        "code": code,
        "message": message,
        "attempts": job.attempts.iter().filter(of_run).count(),
    })
}

fn attempt(job: &Job, attempt: &Attempt) -> Value {
    let run = job.runs.get(attempt.run as usize);
    let (code, message) = told(attempt.end.as_ref());
    json!({
        "number": attempt.number,
        "run": run.map_or("", |run| &run.id),
        "device": attempt.device,
        "outcome": attempt.end.as_ref().map_or(Outcome::Running, outcome_of),
        "code": code,
        "message": message,
        "assigned_at": clock::text(attempt.assigned_ms),
        "started_at": attempt.started_ms.map(clock::text),
        "ended_at": attempt.ended_ms.map(clock::text),
        "log_bytes": attempt.log_bytes,
    })
}

/// Code and message of an end; what waits or runs has none.
fn told(end: Option<&End>) -> (Option<&str>, &str) {
    match end {
        Some(end) => (Some(&end.code), &end.message),
        None => (None, ""),
    }
}
