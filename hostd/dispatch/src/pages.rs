//! What a job that is over leaves for people and for CI systems, made from what its attempts left whenever somebody asks:
//! there is nothing to lose, and nothing to keep in step.
//!
//! A page is made in slices, each under a place of whoever asks: a large one holds up no other, and nobody pays for what
//! nobody takes. Memory holds one description of an attempt's end at a time, and one case.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use evidence::cases::{Cases, Source};
use evidence::making::Bits;
use evidence::result::{Case, Fault, JobResult, Outcome as CaseOutcome};
use evidence::{junit, report};
use jobs::{RunEnd, Skip, Span, Subject, Timeline, cases_of, run_result, spans};
use scheduler::{Axes, EndedBecause};
use serde::Serialize;
use store::jobs::{Attempt, End, Job, Run};
use tokio::sync::mpsc;

use crate::behind;
use crate::error::JobError;
use crate::files::Files;
use crate::left::Link;
use crate::log;
use crate::record::{self, Outcome, outcome_of};
use crate::service::Submitter;
use crate::turns::Turns;

/// Longest description of an attempt's end that is read back. Those that are written are shorter.
const END_BYTES_MAX: u64 = 16 << 20;

/// Bytes of the log's end that the report has.
const TAIL_BYTES: u64 = 32 << 10;

/// A slice of a page ends after so many bytes or so long, whichever comes first.
const SLICE_BYTES: usize = 128 << 10;
const SLICE_TIME: Duration = Duration::from_millis(20);

/// Slices between the disk and a connection that takes a page.
const SLICES_QUEUED: usize = 1;

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

/// A page that is about to be made.
pub(crate) struct Preparing {
    files: Files,
    job: Arc<Job>,
    subject: Subject,
    page: Page,
    /// What the runs left.
    left: Vec<Link>,
    result: JobResult,
}

impl Preparing {
    /// Of a job that was submitted `by` somebody. Links begin with `base`; those to what the runs left are `left`.
    pub(crate) fn new(
        files: Files,
        job: Arc<Job>,
        by: String,
        (base, left): (&str, Vec<Link>),
        page: Page,
    ) -> Self {
        let subject = subject(&job, by, base);
        let result = head(&job, &subject);
        Self {
            files,
            job,
            subject,
            page,
            left,
            result,
        }
    }

    /// Looks how the next run ended. False when all are known. Blocks on the disk.
    fn next(&mut self) -> io::Result<bool> {
        // Only what the timeline has of each run it has not of all.
        if self.page == Page::Trace {
            return Ok(false);
        }
        let at = self.result.runs.len();
        let Some(run) = self.job.runs.get(at) else {
            return Ok(false);
        };
        let (end, source) = end_of(&self.files, &self.job, at)?;
        let mut told = run_result(&end, &self.subject.base);
        if let (Some(whole), Some(end)) = (told.whole.as_mut(), &run.end) {
            whole.outcome = case_outcome(end);
        }
        if let (Some(whole), Told::Unreadable) = (told.whole.as_mut(), &source) {
            whole.output = UNREADABLE.to_owned();
        }
        if let Told::By(attempt) = source {
            told.cases = Arc::new(Kept {
                files: self.files.clone(),
                job: self.job.id.clone(),
                attempt,
                base: self.subject.base.clone(),
            });
        }
        let left = self.left.extract_if(.., |link| link.run == run.id);
        told.files = left.map(|link| (link.name, link.address)).collect();
        self.result.spans.extend(spans(&end));
        self.result.runs.push(told);
        Ok(true)
    }

    /// The page, bit by bit.
    fn bits(mut self) -> io::Result<Box<dyn Bits>> {
        Ok(match self.page {
            Page::Junit => Box::new(junit::bits(self.result)),
            Page::Report => {
                (self.result.log_tail, self.result.log_before) = tail(&self.files, &self.job)?;
                Box::new(report::bits(self.result))
            }
            Page::Trace => Box::new(TraceBits {
                timeline: Some(Timeline::new(Vec::new(), &self.subject)?),
                files: self.files,
                job: self.job,
                run: 0,
            }),
        })
    }
}

/// Makes ready whatever must be known before the page begins.
pub(crate) async fn prepare(
    mut preparing: Preparing,
    turns: &Turns,
    by: &Submitter,
) -> Result<Box<dyn Bits>, JobError> {
    let failed = JobError::files(preparing.files.job(&preparing.job.id));
    let prepared = loop {
        let place = turns.read(by).await?;
        let slice = move || {
            let _place = place;
            let until = Instant::now() + SLICE_TIME;
            while preparing.next()? {
                if Instant::now() >= until {
                    return Ok(Err(preparing));
                }
            }
            preparing.bits().map(Ok)
        };
        match slices(slice).await {
            Ok(Ok(bits)) => break Ok(bits),
            Ok(Err(more)) => preparing = more,
            Err(error) => break Err(error),
        }
    };
    prepared.map_err(failed)
}

/// Sends a page slice by slice, for as long as somebody takes it.
pub(crate) fn stream(
    bits: Box<dyn Bits>,
    turns: Arc<Turns>,
    by: Submitter,
) -> mpsc::Receiver<io::Result<Bytes>> {
    let (parts, receiver) = mpsc::channel(SLICES_QUEUED);
    tokio::spawn(send(bits, turns, by, parts));
    receiver
}

async fn send(
    mut bits: Box<dyn Bits>,
    turns: Arc<Turns>,
    by: Submitter,
    to: mpsc::Sender<io::Result<Bytes>>,
) {
    loop {
        let place = tokio::select! {
            () = to.closed() => return,
            place = turns.read(&by) => place,
        };
        let slice = place.map_err(io::Error::other).map(|place| {
            move || {
                let _place = place;
                let mut out = Vec::new();
                let until = Instant::now() + SLICE_TIME;
                let mut has_more = true;
                while has_more && out.len() < SLICE_BYTES && Instant::now() < until {
                    has_more = bits.next(&mut out)?;
                }
                Ok((out, has_more.then_some(bits)))
            }
        });
        let made = match slice {
            Ok(slice) => slices(slice).await,
            Err(error) => Err(error),
        };
        match made {
            Ok((out, more)) => {
                if !out.is_empty() && !log::pass(&to, out.into()).await {
                    return;
                }
                let Some(more) = more else { return };
                bits = more;
            }
            Err(error) => {
                // Whoever reads learns of it if it is still there.
                let _ = to.send(Err(error)).await;
                return;
            }
        }
    }
}

async fn slices<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    let done = behind::run(work).await;
    done.unwrap_or_else(|| Err(io::Error::other("the work on a page ended early")))
}

/// The cases that an attempt left.
#[derive(Debug)]
struct Kept {
    files: Files,
    job: String,
    attempt: u32,
    base: String,
}

impl Source for Kept {
    fn open(&self) -> io::Result<Cases> {
        let end = read_end(&self.files, &self.job, self.attempt)?;
        let Some(Some(end)) = end else {
            return Ok(Box::new(std::iter::empty::<io::Result<Case>>()));
        };
        let file = self.files.cases(&self.job, self.attempt);
        cases_of(&end, &self.base, file).open()
    }
}

/// The timeline, run by run.
struct TraceBits {
    /// None once it has ended.
    timeline: Option<Timeline<Vec<u8>>>,
    files: Files,
    job: Arc<Job>,
    run: usize,
}

impl Bits for TraceBits {
    fn next(&mut self, out: &mut Vec<u8>) -> io::Result<bool> {
        let Some(timeline) = &mut self.timeline else {
            return Ok(false);
        };
        if self.run == self.job.runs.len() {
            let ended = self.timeline.take().map(Timeline::finish).transpose()?;
            out.extend(ended.unwrap_or_default());
            return Ok(true);
        }
        let (end, _) = end_of(&self.files, &self.job, self.run)?;
        self.run += 1;
        timeline.run(&end)?;
        out.append(timeline.out());
        Ok(true)
    }
}

/// Why a page has nothing of a run but its record.
const UNREADABLE: &str =
    "What its attempt left of its steps and cases cannot be read, so only how it ended is here.";

/// Who knows about a run.
enum Told {
    /// The attempt of this number.
    By(u32),
    /// An attempt that left what cannot be read.
    Unreadable,
    /// Its record alone.
    Record,
}

/// How a run ended, step by step where it came to that.
fn end_of(files: &Files, job: &Job, place: usize) -> io::Result<(RunEnd, Told)> {
    let of_run = |attempt: &&Attempt| attempt.run as usize == place;
    let mut attempts = job.attempts.iter().filter(of_run);
    let count = u32::try_from(attempts.clone().count()).unwrap_or(u32::MAX);
    let last = attempts.next_back();
    let end = match last {
        Some(attempt) => read_end(files, &job.id, attempt.number)?,
        None => None,
    };
    let (end, told) = match (end, last) {
        (Some(Some(end)), Some(attempt)) => (Some(end), Told::By(attempt.number)),
        (Some(_), _) => (None, Told::Unreadable),
        (None, _) => (None, Told::Record),
    };
    let mut end = end.unwrap_or_else(|| unknown(job, &job.runs[place], last));
    end.attempts = count;
    Ok((end, told))
}

/// What an attempt left about its end. None if the server ended before it; nothing within if it cannot be read, as when
/// a later version wrote it.
pub(crate) fn read_end(
    files: &Files,
    job: &str,
    attempt: u32,
) -> io::Result<Option<Option<RunEnd>>> {
    let file = match File::open(files.end(job, attempt)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    let text = BufReader::new(file.take(END_BYTES_MAX));
    match serde_json::from_reader(text) {
        Ok(end) => Ok(Some(Some(end))),
        Err(error) if error.is_io() => Err(error.into()),
        Err(_) => Ok(Some(None)),
    }
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

/// What the record says, which counts: it knows of restarts, retries and clocks that no runner knows of.
fn head(job: &Job, subject: &Subject) -> JobResult {
    let axes = record::axes(job);
    let end_ms = job.finished_ms.unwrap_or(job.created_ms);
    let duration_ms = end_ms.saturating_sub(job.created_ms);
    let end = job.end.as_ref();
    JobResult {
        id: subject.id.clone(),
        name: subject.name.clone(),
        reference: subject.reference.clone(),
        commit: subject.commit.clone(),
        submitted_by: subject.by.clone(),
        submitted_at: subject.at.clone(),
        duration_us: duration_ms.saturating_mul(1000),
        state: word(axes.state()),
        ended_because: axes
            .ended_because()
            .map(|because: EndedBecause| word(because)),
        verdict: word(Axes::verdict(&axes)),
        sentence: end.map(|end| end.message.clone()).unwrap_or_default(),
        ..JobResult::default()
    }
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
    let outcome = jobs::Outcome::Skipped(Skip::Cancelled);
    RunEnd {
        device: attempt.and_then(|attempt| attempt.device.clone()),
        ..RunEnd::bare((&run.id, run.is_bench), outcome, time)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A page without an end, which says when it is given up.
    struct Endless(Option<std::sync::mpsc::Sender<()>>);

    impl Bits for Endless {
        fn next(&mut self, out: &mut Vec<u8>) -> io::Result<bool> {
            out.extend([b'x'; 1000]);
            Ok(true)
        }
    }

    impl Drop for Endless {
        fn drop(&mut self) {
            if let Some(sender) = self.0.take() {
                let _ = sender.send(());
            }
        }
    }

    fn of(org: &str, user: usize) -> Submitter {
        Submitter {
            org: org.to_owned(),
            user: format!("{org}-{user}"),
        }
    }

    #[tokio::test]
    async fn a_page_ends_with_its_request() {
        let turns = Arc::new(Turns::new());
        let (sender, given_up) = std::sync::mpsc::channel();
        let mut parts = stream(Box::new(Endless(Some(sender))), turns.clone(), of("o", 0));
        for _ in 0..3 {
            let part = parts.recv().await.unwrap().unwrap();
            assert!(part.len() >= SLICE_BYTES.min(1000));
        }
        drop(parts);
        let waited =
            tokio::task::spawn_blocking(move || given_up.recv_timeout(Duration::from_secs(60)));
        waited.await.unwrap().expect("somebody still makes it");
    }

    /// However many pages without an end are taken as fast as they come, and others by nobody, a place is free for the
    /// next one.
    #[tokio::test]
    async fn pages_share_their_places() {
        let turns = Arc::new(Turns::new());
        let mut idle = Vec::new();
        for org in ["a", "b"] {
            for user in 0..20 {
                let mut parts = stream(Box::new(Endless(None)), turns.clone(), of(org, user));
                if user < 10 {
                    tokio::spawn(async move { while parts.recv().await.is_some() {} });
                } else {
                    idle.push(parts);
                }
            }
        }
        for _ in 0..10 {
            let owner = of("c", 0);
            let place = tokio::time::timeout(Duration::from_secs(10), turns.read(&owner));
            drop(place.await.expect("it waits too long").unwrap());
            tokio::task::yield_now().await;
        }
    }
}
