//! What a job left behind, as files for people and for CI systems.

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use evidence::cases::{Counts, Source};
use evidence::log::{Piece, Reader};
use evidence::measurement::told_of;
use evidence::result::{self, Case, Fault, JobResult, RunResult};
use evidence::trace::{Trace, Went};
use evidence::{junit, report};
use pipeline::Rail;
use serde::Serialize;

use crate::cases::{self, Mixed};
use crate::job::{Job, Verdict};
use crate::micros;
use crate::outcome::Outcome;
use crate::recorded::encoded;
use crate::request::{attempt_folder, logs};
use crate::results::{CaptureEnd, RunEnd, StepEnd};
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
    /// The server's public URL, which links begin with, without `/` at its end. Empty: links are paths.
    pub base: String,
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

/// A capture that lies in the folder of the results, below [`captures`](crate::captures): its run, and the file in the folder
/// of that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaptureFile {
    /// Id of the run.
    pub run: String,
    /// Name of the file.
    pub file: String,
}

/// Writes the reports of a job to the folder that its results went to, among them `captures`.
///
/// # Errors
/// The disk.
pub fn write_reports(
    job: &Job,
    subject: &Subject,
    captures: &[CaptureFile],
    out: &Path,
) -> io::Result<Files> {
    let files = Files {
        junit: out.join("junit.xml"),
        report: out.join("report.html"),
        trace: out.join("trace.json"),
        log: out.join("log.txt"),
    };
    let logs = logs(out);
    write_logs(job, &logs, &files.log)?;
    let mut result = result_of(job, subject, out);
    for (told, run) in result.runs.iter_mut().zip(&job.runs) {
        told.files = files_beside(run, captures);
    }
    (result.log_tail, result.log_before) = end_of(&files.log)?;
    let mut page = BufWriter::new(File::create(&files.report)?);
    report::write(&result, &mut page)?;
    page.flush()?;
    let mut cases = BufWriter::new(File::create(&files.junit)?);
    junit::write(&result, &mut cases)?;
    cases.flush()?;
    let mut timeline = Timeline::new(BufWriter::new(File::create(&files.trace)?), subject)?;
    job.runs.iter().try_for_each(|run| timeline.run(run))?;
    timeline.finish()?;
    tree::remove(&logs)?;
    Ok(files)
}

/// What a run left, by the ways that lead there from the report beside it.
fn files_beside(run: &RunEnd, captures: &[CaptureFile]) -> Vec<(String, String)> {
    let id = encoded(&run.id);
    let artifacts = run.artifacts.iter().map(|artifact| {
        let address = format!("./artifacts/{id}/{}", encoded(&artifact.name));
        (artifact.name.clone(), address)
    });
    let captures = captures.iter().filter(|capture| capture.run == run.id);
    let captures = captures.map(|capture| {
        let address = format!("./captures/{id}/{}", encoded(&capture.file));
        (capture.file.clone(), address)
    });
    artifacts.chain(captures).collect()
}

/// Joins the logs of all attempts at all runs.
fn write_logs(job: &Job, logs: &Path, to: &Path) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(to)?);
    for run in &job.runs {
        writeln!(out, "=== {}: {}", run.id, run.sentence())?;
        for attempt in 1..=run.attempts {
            if run.attempts > 1 {
                writeln!(out, "=== {}, attempt {attempt}", run.id)?;
            }
            match File::open(attempt_folder(logs, &run.id, attempt).join("log")) {
                Ok(log) => write_log(log, &mut out)?,
                // It could not be made.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
    }
    out.flush()
}

/// Writes the log of an attempt as text. It ends with a line's end.
///
/// # Errors
/// It cannot be read, or `out` not be written to.
pub fn write_log(log: File, out: &mut impl Write) -> io::Result<()> {
    let mut reader = Reader::new(log, &[], 0)?;
    let mut is_at_start = true;
    while let Some(piece) = reader.next_piece()? {
        match piece {
            Piece::Output { bytes, .. } => {
                is_at_start = bytes.last() == Some(&b'\n');
                out.write_all(&bytes)?;
            }
            Piece::Dropped(bytes) => {
                if !is_at_start {
                    out.write_all(b"\n")?;
                }
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

/// The timeline of a job for Perfetto, run by run.
#[derive(Debug)]
pub struct Timeline<W>(Trace<W>);

impl<W: Write> Timeline<W> {
    /// Begins it.
    ///
    /// # Errors
    /// As everything here: `out` cannot be written to.
    pub fn new(out: W, subject: &Subject) -> io::Result<Self> {
        Trace::new(out, &subject.name).map(Self)
    }

    /// Adds a run.
    ///
    /// # Errors
    /// See [`new`](Self::new).
    pub fn run(&mut self, run: &RunEnd) -> io::Result<()> {
        let trace = &mut self.0;
        for (name, time) in &run.spans {
            let went = step_of(run, name, *time).map(|step| Went {
                outcome: step.outcome.word(),
                kind: step.outcome.kind(),
            });
            let times = (micros::of(time.start), micros::of(time.end));
            trace.phase(&run.id, name, times, went)?;
        }
        let lane = run.device.as_deref().unwrap_or(&run.id);
        for capture in captures(run) {
            let CaptureEnd { id, name, time, .. } = capture;
            trace.capture_begins(lane, id, name, micros::of(time.start))?;
            trace.capture_ends(lane, id, name, micros::of(time.end))?;
        }
        for reading in &run.readings {
            let name = format!("{lane} {}", rail_name(reading.rail));
            trace.power(&name, micros::of(reading.at), reading.mv, reading.ua)?;
        }
        let row = format!("{lane} serial");
        for mark in &run.marks {
            trace.mark(&row, &mark.text, micros::of(mark.at))?;
        }
        Ok(())
    }

    /// What is written to.
    pub fn out(&mut self) -> &mut W {
        self.0.out()
    }

    /// Ends it.
    ///
    /// # Errors
    /// See [`new`](Self::new).
    pub fn finish(self) -> io::Result<W> {
        self.0.finish()
    }
}

/// A rail, as pipelines name it.
fn rail_name(rail: Rail) -> &'static str {
    match rail {
        Rail::Internal => "internal",
        Rail::External => "external",
    }
}

/// Every capture of a run, once.
fn captures(run: &RunEnd) -> Vec<&CaptureEnd> {
    let mut captures: Vec<&CaptureEnd> = Vec::new();
    for capture in run.steps.iter().flat_map(|step| &step.captures) {
        if !captures.iter().any(|other| other.id == capture.id) {
            captures.push(capture);
        }
    }
    captures
}

/// What a job came to that left its results in `out`, as its JUnit and its page have it. The log's end is left out.
#[must_use]
pub fn result_of(job: &Job, subject: &Subject, out: &Path) -> JobResult {
    let verdict = job.verdict();
    let ended_because = match &verdict {
        Verdict::Cancelled => "cancelled",
        Verdict::Definition(..) => "definition_error",
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
        duration_us: micros::of(job.duration),
        state: "finished".to_owned(),
        ended_because: Some(ended_because.to_owned()),
        verdict: match &verdict {
            Verdict::Success => "success",
            Verdict::Failure(..) => "failure",
            _ => "pending",
        }
        .to_owned(),
        sentence: verdict.sentence(),
        runs: job
            .runs
            .iter()
            .map(|run| {
                let attempt = attempt_folder(&logs(out), &run.id, run.attempts);
                RunResult {
                    cases: cases_of(run, &subject.base, attempt.join(cases::FILE)),
                    ..run_result(run, &subject.base)
                }
            })
            .collect(),
        spans: job.runs.iter().flat_map(spans).collect(),
        ..JobResult::default()
    }
}

/// What a run came to, with the number of its cases, but without them. Links begin with `base`.
#[must_use]
pub fn run_result(run: &RunEnd, base: &str) -> RunResult {
    let name = if run.is_bench { "test" } else { "build" };
    let whole = Case {
        name: name.to_owned(),
        duration_us: micros::of(run.time.len()),
        outcome: case_outcome(&run.outcome, ""),
        output: run.steps.iter().rev().find_map(bad_end).unwrap_or_default(),
        ..Case::default()
    };
    let (measurements, measured) = told_of(run.measurements().map(|(_, measured)| measured));
    RunResult {
        measurements,
        measured,
        class: run.id.clone(),
        device: run.device.clone(),
        attempts: run.attempts,
        network: run.network.map(|reach| reach.word().to_owned()),
        duration_us: micros::of(run.time.len()),
        whole: Some(whole),
        counts: counts(run),
        cut_bytes: run.cut_bytes,
        links: captures(run)
            .into_iter()
            .map(|capture| link(capture, base))
            .collect(),
        ..RunResult::default()
    }
}

fn counts(run: &RunEnd) -> Counts {
    let mut counts = Counts::default();
    for step in &run.steps {
        if step.case.is_some() {
            counts.add(&case_outcome(&step.outcome, ""));
        }
        counts += Counts::of(&step.cases);
        counts += step.counts;
    }
    counts
}

/// The cases of a run whose tests wrote theirs to `file`. Links begin with `base`.
#[must_use]
pub fn cases_of(run: &RunEnd, base: &str, file: PathBuf) -> Arc<dyn Source> {
    let steps = run.steps.iter();
    let steps = steps.map(|step| (step_cases(step, base), step.counts.all()));
    Arc::new(Mixed {
        steps: steps.collect(),
        file,
    })
}

/// What a step wrote last, if it was not as it should be.
fn bad_end(step: &StepEnd) -> Option<String> {
    let is_fine = matches!(step.outcome, Outcome::Passed | Outcome::Skipped(_));
    (!is_fine).then(|| step.tail.clone())
}

/// The name and the address of a capture.
fn link(capture: &CaptureEnd, base: &str) -> (String, String) {
    let address = format!("{base}/api/capture/{}", capture.id);
    (format!("hostd.capture.{}", capture.name), address)
}

/// The case that a step is, and those that are kept with it.
fn step_cases(step: &StepEnd, base: &str) -> Vec<Case> {
    let links = step.captures.iter().map(|capture| link(capture, base));
    let (measured, _) = told_of(step.measurements.iter());
    let links = links.chain(measured.iter().map(junit::property));
    let own = step.case.as_ref().map(|name| Case {
        name: name.clone(),
        links: links.collect(),
        captures: step.captures.iter().filter_map(picture).collect(),
        duration_us: micros::of(step.time.len()),
        outcome: case_outcome(&step.outcome, &step.at),
        output: step.tail.clone(),
        ..Case::default()
    });
    own.into_iter().chain(step.cases.iter().cloned()).collect()
}

/// A small picture, whose name says in what it differs from what was asked for.
fn picture(capture: &CaptureEnd) -> Option<result::Capture> {
    let mut picture = capture.picture.clone()?;
    for warning in &capture.warnings {
        picture.name = format!("{} ({warning})", picture.name);
    }
    Some(picture)
}

fn case_outcome(outcome: &Outcome, detail: &str) -> result::Outcome {
    let fault = |kind: &str| Fault {
        kind: kind.to_owned(),
        message: outcome.to_string(),
        detail: detail.to_owned(),
    };
    match outcome {
        Outcome::Passed => result::Outcome::Passed,
        Outcome::Failed(failure) if failure.is_mistake() => {
            result::Outcome::BenchFailed(fault(failure.kind()))
        }
        Outcome::Failed(failure) => result::Outcome::Failed(fault(failure.kind())),
        Outcome::Broken(breakage) => result::Outcome::BenchFailed(fault(breakage.kind())),
        Outcome::Cancelled | Outcome::Skipped(_) => result::Outcome::Skipped(outcome.to_string()),
    }
}

/// The step that a run spent this stretch of its time on; none for what it did besides.
fn step_of<'r>(run: &'r RunEnd, name: &str, time: crate::results::Span) -> Option<&'r StepEnd> {
    let mut steps = run.steps.iter();
    steps.find(|step| step.name == name && step.time == time)
}

/// What a run spent its time on.
#[must_use]
pub fn spans(run: &RunEnd) -> Vec<result::Span> {
    let is_bad =
        |name: &str, time| step_of(run, name, time).is_some_and(|step| bad_end(step).is_some());
    let span = |(name, time): &(String, crate::results::Span)| result::Span {
        lane: run.id.clone(),
        name: name.clone(),
        start_us: micros::of(time.start),
        end_us: micros::of(time.end),
        failed: is_bad(name, *time),
    };
    run.spans.iter().map(span).collect()
}
