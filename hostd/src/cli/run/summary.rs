//! What a job came to, as JSON for programs.

use std::time::Duration;

use jobs::{Files, Job, Outcome, RunEnd, StepEnd};
use serde_json::{Map, Value, json};

/// Everything but the log.
pub(super) fn as_json(job: &Job, files: &Files) -> Value {
    let verdict = job.verdict();
    json!({
        "verdict": verdict.word(),
        "exit_code": verdict.exit_code(),
        "sentence": verdict.sentence(),
        "duration_ms": ms(job.duration),
        "runs": job.runs.iter().map(run).collect::<Vec<_>>(),
        "files": files,
    })
}

fn run(run: &RunEnd) -> Value {
    let more = json!({
        "id": run.id,
        "device": run.device,
        "attempts": run.attempts,
        "duration_ms": ms(run.time.len()),
        "cache_hit": run.cache_hit,
        "network": run.network,
        "log": run.log,
        "steps": run.steps.iter().map(step).collect::<Vec<_>>(),
        "artifacts": run.artifacts,
    });
    with_outcome(&run.outcome, more)
}

fn step(step: &StepEnd) -> Value {
    let more = json!({
        "at": step.at,
        "name": step.name,
        "case": step.case,
        "exit_code": step.exit_code,
        "duration_ms": ms(step.time.len()),
    });
    with_outcome(&step.outcome, more)
}

fn with_outcome(outcome: &Outcome, more: Value) -> Value {
    let mut object = Map::new();
    object.insert("outcome".to_owned(), outcome.word().into());
    object.insert("kind".to_owned(), outcome.kind().into());
    object.insert("sentence".to_owned(), outcome.to_string().into());
    if let Value::Object(more) = more {
        object.extend(more);
    }
    Value::Object(object)
}

fn ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
