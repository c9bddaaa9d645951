//! What a job that is over leaves for people and for CI systems, made anew from what its attempts left whenever
//! somebody asks: there is nothing to lose, and nothing to keep in step.

use std::fs::File;
use std::io::{self, Read};
use std::time::Duration;

use evidence::result::{Fault, JobResult, Outcome as CaseOutcome};
use evidence::{junit, report};
use jobs::{LogSummary, RunEnd, Skip, Span, Subject, result_of, write_trace};
use scheduler::{Axes, EndedBecause};
use serde::Serialize;
use store::jobs::{Attempt, End, Job, Run};

use crate::error::JobError;
use crate::files::Files;
use crate::log;
use crate::record::{self, Outcome, outcome_of};

/// Longest description of an attempt's end that is read back.
const END_BYTES_MAX: u64 = 16 << 20;

/// Descriptions of attempts' ends that are read back for a page, all together. Runs behind that are told by their
/// records alone.
const ENDS_BYTES_MAX: u64 = 64 << 20;

/// Bytes of the log's end that the report has.
const TAIL_BYTES: u64 = 32 << 10;

/// A page about a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Page {
    /// JUnit XML.
    Junit,
    /// A self-contained HTML page.
    Report,
    /// A timeline for Perfetto, JSON.
    Trace,
}

/// Makes a page about a job that was submitted `by` somebody. Blocks on the disk.
/// Links begin with `base`.
pub(crate) fn make(
    files: &Files,
    job: &Job,
    by: String,
    base: &str,
    page: Page,
) -> Result<Vec<u8>, JobError> {
    let failed = JobError::files(files.job(&job.id));
    let subject = subject(job, by, base);
    write(files, job, &subject, page).map_err(failed)
}

fn write(files: &Files, job: &Job, subject: &Subject, page: Page) -> io::Result<Vec<u8>> {
    let ended = jobs::Job {
        runs: runs(files, job)?,
        duration: duration(job),
        builds_only: false,
    };
    let mut out = Vec::new();
    if page == Page::Trace {
        write_trace(&ended, subject, &mut out)?;
        return Ok(out);
    }
    let mut result = result_of(&ended, subject);
    settle(&mut result, job);
    match page {
        Page::Junit => junit::write(&result, &mut out)?,
        _ => {
            (result.log_tail, result.log_before) = tail(files, job)?;
            report::write(&result, &mut out)?;
        }
    }
    Ok(out)
}

fn subject(job: &Job, by: String, base: &str) -> Subject {
    Subject {
        id: job.id.clone(),
        name: job.name.clone().unwrap_or_else(|| job.id.clone()),
        reference: job.r#ref.clone(),
        commit: job.commit.clone(),
        by,
        at: ::base::clock::text(job.created_ms),
        base: base.to_owned(),
    }
}

fn duration(job: &Job) -> Duration {
    let end_ms = job.finished_ms.unwrap_or(job.created_ms);
    Duration::from_millis(end_ms.saturating_sub(job.created_ms))
}

/// How each run ended, step by step where it came to that.
fn runs(files: &Files, job: &Job) -> io::Result<Vec<RunEnd>> {
    let mut room = ENDS_BYTES_MAX;
    let run = |(place, run): (usize, &Run)| {
        let of_run = |attempt: &&Attempt| attempt.run as usize == place;
        let mut attempts = job.attempts.iter().filter(of_run);
        let count = u32::try_from(attempts.clone().count()).unwrap_or(u32::MAX);
        let last = attempts.next_back();
        let end = match last {
            Some(attempt) => read_end(files, job, attempt.number, &mut room)?,
            None => None,
        };
        let mut end = end.unwrap_or_else(|| unknown(job, run, last));
        end.attempts = count;
        Ok(end)
    };
    job.runs.iter().enumerate().map(run).collect()
}

/// What an attempt left about its end; none if the server ended before it, a later version wrote it, or there is no
/// `room` left for it.
fn read_end(files: &Files, job: &Job, attempt: u32, room: &mut u64) -> io::Result<Option<RunEnd>> {
    let file = match File::open(files.end(&job.id, attempt)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    let mut text = Vec::new();
    file.take(END_BYTES_MAX.min(*room)).read_to_end(&mut text)?;
    *room = room.saturating_sub(text.len() as u64);
    Ok(serde_json::from_slice(&text).ok())
}

/// A run of which nothing is known but its record.
fn unknown(job: &Job, run: &Run, attempt: Option<&Attempt>) -> RunEnd {
    let at = |at_ms: u64| Duration::from_millis(at_ms.saturating_sub(job.created_ms));
    let finished_ms = job.finished_ms.unwrap_or(job.created_ms);
    let time = Span {
        start: at(attempt.map_or(finished_ms, |attempt| attempt.assigned_ms)),
        end: at(attempt
            .and_then(|attempt| attempt.ended_ms)
            .unwrap_or(finished_ms)),
    };
    RunEnd {
        id: run.id.clone(),
        is_bench: run.is_bench,
        has_test_output: false,
        device: attempt.and_then(|attempt| attempt.device.clone()),
        outcome: jobs::Outcome::Skipped(Skip::Cancelled),
        attempts: 0,
        time,
        steps: Vec::new(),
        spans: Vec::new(),
        artifacts: Vec::new(),
        cache_hit: None,
        network: None,
        log: LogSummary::default(),
        marks: Vec::new(),
        readings: Vec::new(),
    }
}

/// What the record says counts: it knows of restarts, retries and clocks that no runner knows of.
fn settle(result: &mut JobResult, job: &Job) {
    let axes = record::axes(job);
    result.state = word(axes.state());
    result.ended_because = axes
        .ended_because()
        .map(|because: EndedBecause| word(because));
    result.verdict = word(Axes::verdict(&axes));
    if let Some(end) = &job.end {
        result.sentence.clone_from(&end.message);
    }
    for (told, run) in result.runs.iter_mut().zip(&job.runs) {
        if let (Some(whole), Some(end)) = (told.whole.as_mut(), &run.end) {
            whole.outcome = case_outcome(end);
        }
    }
}

fn case_outcome(end: &End) -> CaseOutcome {
    let fault = || Fault {
        kind: end.code.clone(),
        message: end.message.clone(),
        detail: String::new(),
    };
    match outcome_of(end) {
        Outcome::Passed => CaseOutcome::Passed,
        Outcome::Failed => CaseOutcome::Failed(fault()),
        Outcome::TimedOut if !end.code.starts_with("queue") => CaseOutcome::Failed(fault()),
        Outcome::Cancelled | Outcome::Skipped => CaseOutcome::Skipped(end.message.clone()),
        _ => CaseOutcome::BenchFailed(fault()),
    }
}

/// A word as it is stored.
fn word(value: impl Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}

/// The end of the log of the last attempt, and the bytes before it.
fn tail(files: &Files, job: &Job) -> io::Result<(String, u64)> {
    let Some(last) = job.attempts.last() else {
        return Ok((String::new(), 0));
    };
    let length = log::length(files, &job.id, last.number)?;
    let from = length.saturating_sub(TAIL_BYTES);
    let bytes = log::read(files, &job.id, last.number, from)?;
    Ok((String::from_utf8_lossy(&bytes).into_owned(), from))
}
