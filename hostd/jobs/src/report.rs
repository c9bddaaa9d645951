//! What a job left behind, as files for people and for CI systems.

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use evidence::log::{Piece, Reader, Stream};
use evidence::result::{self, Case, Fault, JobResult, RunResult};
use evidence::trace::Trace;
use evidence::{junit, report};
use serde::Serialize;

use crate::build::log_folder;
use crate::job::{Job, Verdict};
use crate::outcome::Outcome;
use crate::results::{RunEnd, StepEnd};
use crate::tree;

/// Bytes of the log's end that the page has.
const TAIL_BYTES: u64 = 32 << 10;

/// What a report says about a job that the job itself does not know.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subject {
    /// Its id.
    pub id: String,
    /// What it is called.
    pub name: String,
    /// Branch or tag.
    pub reference: Option<String>,
    /// Commit.
    pub commit: Option<String>,
    /// Who had it carried out.
    pub by: String,
    /// When, as RFC 3339.
    pub at: String,
}

/// Where the reports are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Files {
    /// Cases, for CI systems.
    pub junit: PathBuf,
    /// A page, for people.
    pub report: PathBuf,
    /// The timeline, for Perfetto.
    pub trace: PathBuf,
    /// All that was written.
    pub log: PathBuf,
}

/// Writes the reports of a job to the folder that its results went to.
///
/// # Errors
/// The disk.
pub fn write_reports(job: &Job, subject: &Subject, out: &Path) -> io::Result<Files> {
    let files = Files {
        junit: out.join("junit.xml"),
        report: out.join("report.html"),
        trace: out.join("trace.json"),
        log: out.join("log.txt"),
    };
    let logs = out.join("logs");
    write_log(job, &logs, &files.log)?;
    tree::remove(&logs)?;
    let mut result = result_of(job, subject);
    (result.log_tail, result.log_before) = end_of(&files.log)?;
    let mut page = BufWriter::new(File::create(&files.report)?);
    report::write(&result, &mut page)?;
    page.flush()?;
    let mut cases = BufWriter::new(File::create(&files.junit)?);
    junit::write(&result, &mut cases)?;
    cases.flush()?;
    write_trace(&result, &files.trace)?;
    Ok(files)
}

/// Joins the logs of all runs.
fn write_log(job: &Job, logs: &Path, to: &Path) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(to)?);
    for run in &job.runs {
        writeln!(out, "=== {}: {}", run.id, run.outcome)?;
        match File::open(log_folder(logs, &run.id).join("log")) {
            Ok(log) => write_run(log, &mut out)?,
            // It was not run.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    out.flush()
}

fn write_run(log: File, out: &mut impl Write) -> io::Result<()> {
    let mut reader = Reader::new(log, &[], 0)?;
    let mut is_at_start = true;
    while let Some(piece) = reader.next_piece()? {
        let begins_line =
            !matches!(&piece, Piece::Output { stream, .. } if *stream != Stream::Server);
        if begins_line && !is_at_start {
            out.write_all(b"\n")?;
        }
        match piece {
            Piece::Output { bytes, .. } => {
                is_at_start = bytes.last() == Some(&b'\n');
                out.write_all(&bytes)?;
            }
            Piece::Dropped(bytes) => {
                is_at_start = true;
                writeln!(
                    out,
                    "-- {bytes} bytes left out here: the log's limit was reached"
                )?;
            }
        }
    }
    if is_at_start {
        return Ok(());
    }
    out.write_all(b"\n")
}

/// The end of a file as text, and how many bytes are before it.
fn end_of(path: &Path) -> io::Result<(String, u64)> {
    let mut file = File::open(path)?;
    let before = file.metadata()?.len().saturating_sub(TAIL_BYTES);
    file.seek(SeekFrom::Start(before))?;
    let mut end = Vec::new();
    file.take(TAIL_BYTES).read_to_end(&mut end)?;
    Ok((String::from_utf8_lossy(&end).into_owned(), before))
}

fn write_trace(job: &JobResult, to: &Path) -> io::Result<()> {
    let mut trace = Trace::new(BufWriter::new(File::create(to)?), &job.name)?;
    for span in &job.spans {
        trace.phase(&span.lane, &span.name, span.start_us, span.end_us)?;
    }
    trace.finish()?.flush()
}

fn result_of(job: &Job, subject: &Subject) -> JobResult {
    let verdict = job.verdict();
    let ended_because = match &verdict {
        Verdict::Cancelled => "cancelled",
        Verdict::Infrastructure(..) => "infra_error",
        _ if job.hit_timeout() => "timeout",
        _ => "completed",
    };
    JobResult {
        id: subject.id.clone(),
        name: subject.name.clone(),
        reference: subject.reference.clone(),
        commit: subject.commit.clone(),
        submitted_by: subject.by.clone(),
        submitted_at: subject.at.clone(),
        duration_us: us(job.duration),
        state: "finished".to_owned(),
        ended_because: Some(ended_because.to_owned()),
        verdict: match &verdict {
            Verdict::Success => "success",
            Verdict::Failure(..) => "failure",
            _ => "pending",
        }
        .to_owned(),
        sentence: verdict.sentence(),
        runs: job.runs.iter().map(run_result).collect(),
        spans: job.runs.iter().flat_map(spans).collect(),
        ..JobResult::default()
    }
}

fn run_result(run: &RunEnd) -> RunResult {
    let name = if run.is_bench { "test" } else { "build" };
    let whole = Case {
        name: name.to_owned(),
        duration_us: us(run.time.len()),
        outcome: case_outcome(&run.outcome, ""),
        output: run.steps.iter().rev().find_map(bad_end).unwrap_or_default(),
        ..Case::default()
    };
    let cases = run.steps.iter().flat_map(step_cases);
    RunResult {
        class: run.id.clone(),
        device: None,
        attempts: run.attempts,
        duration_us: us(run.time.len()),
        cases: std::iter::once(whole).chain(cases).collect(),
    }
}

/// What a step wrote last, if it was not as it should be.
fn bad_end(step: &StepEnd) -> Option<String> {
    let is_fine = matches!(step.outcome, Outcome::Passed | Outcome::Skipped(_));
    (!is_fine).then(|| step.tail.clone())
}

/// The case that a step is, and those that it wrote.
fn step_cases(step: &StepEnd) -> Vec<Case> {
    let own = step.case.as_ref().map(|name| Case {
        name: name.clone(),
        duration_us: us(step.time.len()),
        outcome: case_outcome(&step.outcome, &step.at),
        output: step.tail.clone(),
        ..Case::default()
    });
    own.into_iter().chain(step.cases.iter().cloned()).collect()
}

fn case_outcome(outcome: &Outcome, detail: &str) -> result::Outcome {
    let fault = |kind: &str| Fault {
        kind: kind.to_owned(),
        message: outcome.to_string(),
        detail: detail.to_owned(),
    };
    match outcome {
        Outcome::Passed => result::Outcome::Passed,
        Outcome::Failed(failure) => result::Outcome::Failed(fault(failure.kind())),
        Outcome::Broken(breakage) => result::Outcome::BenchFailed(fault(breakage.kind())),
        Outcome::Cancelled | Outcome::Skipped(_) => result::Outcome::Skipped(outcome.to_string()),
    }
}

fn spans(run: &RunEnd) -> Vec<result::Span> {
    let is_bad = |name: &str| {
        let mut steps = run.steps.iter().filter(|step| step.name == *name);
        steps.any(|step| bad_end(step).is_some())
    };
    let span = |(name, time): &(String, crate::results::Span)| result::Span {
        lane: run.id.clone(),
        name: name.clone(),
        start_us: us(time.start),
        end_us: us(time.end),
        failed: is_bad(name),
    };
    run.spans.iter().map(span).collect()
}

fn us(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
