//! How test cases went in the last jobs: run by run, with commit and device, so that a fault of the firmware can be told from
//! one of a bench, and a case that wavers from one that broke.
//!
//! It is read from what attempts keep on disk, within bounds, whenever somebody asks: there is nothing to keep in step.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::io::{self, BufReader};
use std::ops::ControlFlow;
use std::path::Path;

use admission::OwnedPermit;
use evidence::cases::{Cases, Reader};
use evidence::result::Outcome as CaseOutcome;
use jobs::cases_of;
use store::jobs::{self as records, Attempt, Job};
use store::{Store, StoreError};
use tracing::warn;

use crate::behind;
use crate::error::JobError;
use crate::files::Files;
use crate::pages::read_end;
use crate::service::{Filter, Jobs, Submitter};

/// Jobs that one answer looks at: the last ones that have ended.
const JOBS_MAX: usize = 50;

/// Bytes of cases that one answer reads. Those of older jobs are left out.
const BYTES_MAX: u64 = 64 << 20;

/// Different cases that one answer keeps count of.
const CASES_MAX: usize = 5_000;

/// Characters of a case's name.
const NAME_CHARS_MAX: usize = 200;

/// Begins the codes of ends that are the bench's or the server's fault.
const INFRA: &str = "infra";

/// How a case went in one run of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Went {
    /// It passed.
    Passed,
    /// The firmware or the test failed.
    Failed,
    /// The bench failed, or nothing was judged.
    Broken,
    /// It was not run.
    Skipped,
}

/// One run of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// Place of the job in [`History::jobs`].
    pub job: usize,
    /// Id of the device; none for a build.
    pub device: Option<String>,
    /// How it went.
    pub went: Went,
}

/// What is known of a case.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseHistory {
    /// The run of the pipeline that it belongs to.
    pub run: String,
    /// Its name; none: the run as a whole.
    pub case: Option<String>,
    /// The newest one first, one for each job.
    pub seen: Vec<Seen>,
    /// Of the commits at which it was judged more than once, the part at which it both passed and failed; none if there is no
    /// such commit.
    pub flaky_rate: Option<f64>,
    /// Place in [`History::jobs`] of the first job of those since which it fails each time; none if it does not fail now.
    pub first_bad: Option<usize>,
}

/// What is known of a job whose cases were looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Looked {
    pub id: String,
    pub name: Option<String>,
    pub r#ref: Option<String>,
    pub commit: Option<String>,
    pub created_ms: u64,
}

/// How cases went.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct History {
    /// The newest one first.
    pub jobs: Vec<Looked>,
    /// Those that fail now first, then those that waver, then the others; each by run and name.
    pub cases: Vec<CaseHistory>,
    /// How many there are in all.
    pub all: usize,
    /// Something was left out: jobs have more cases than one answer reads, or some that cannot be read.
    pub is_cut: bool,
}

impl Jobs {
    /// How the cases went of the last jobs that fit and have ended. Those whose run or name has `text` in it, at most `limit`.
    ///
    /// # Errors
    /// Too many ask, or the storage failed.
    pub async fn history(
        &self,
        by: &Submitter,
        filter: Filter,
        text: Option<String>,
        limit: usize,
    ) -> Result<History, JobError> {
        // What it reads is much: as pages do, it waits for its turn.
        let place = self.turns.read(by).await?;
        let (jobs, place) = last_ended(&self.store, by.org.clone(), filter, place).await?;
        let files = self.files.clone();
        let work = move || {
            let _place = place;
            Looking::new(text).all(&files, &jobs, limit)
        };
        let made = behind::run(work).await;
        let made = made.ok_or_else(|| io::Error::other("the look ended early"));
        made.map_err(JobError::files(self.files.root()))
    }
}

/// The last jobs that fit and have ended, and the place, which is held until the scan is over, though the caller may have left.
async fn last_ended(
    store: &Store,
    org: String,
    filter: Filter,
    place: OwnedPermit,
) -> Result<(Vec<Job>, OwnedPermit), StoreError> {
    let read = store.read(move |s| {
        let mut found = Vec::new();
        let (sought, since) = (filter.sought(), filter.since.as_deref());
        records::newest_first_since(s, &org, since, None, |job| {
            let fitting = job
                .job()
                .filter(|job| job.end.is_some() && sought.fits(job));
            found.extend(fitting.cloned());
            match found.len() == JOBS_MAX {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        })?;
        Ok::<_, StoreError>((found, place))
    });
    read.await
}

/// A look at jobs, the newest one first.
struct Looking {
    text: Option<String>,
    left_bytes: u64,
    is_cut: bool,
    /// By run and name.
    cases: HashMap<(String, Option<String>), Vec<Seen>>,
}

impl Looking {
    fn new(text: Option<String>) -> Self {
        Self {
            text: text.map(|text| text.to_lowercase()),
            left_bytes: BYTES_MAX,
            is_cut: false,
            cases: HashMap::new(),
        }
    }

    fn all(mut self, files: &Files, jobs: &[Job], limit: usize) -> History {
        for (place, job) in jobs.iter().enumerate() {
            self.job(files, place, job);
        }
        let commit = |place: usize| jobs[place].commit.as_deref();
        let mut cases: Vec<CaseHistory> = self
            .cases
            .into_iter()
            .map(|((run, case), seen)| CaseHistory {
                flaky_rate: flaky_rate(&seen, commit),
                first_bad: first_bad(&seen),
                run,
                case,
                seen,
            })
            .collect();
        cases.sort_by(|a, b| rank(a).cmp(&rank(b)));
        let all = cases.len();
        cases.truncate(limit);
        History {
            jobs: jobs.iter().map(looked).collect(),
            cases,
            all,
            is_cut: self.is_cut,
        }
    }

    fn job(&mut self, files: &Files, place: usize, job: &Job) {
        for (at, run) in job.runs.iter().enumerate() {
            let of_run = |attempt: &&Attempt| attempt.run as usize == at;
            let Some(attempt) = job.attempts.iter().rfind(of_run) else {
                continue;
            };
            let device = attempt.device.as_deref();
            if let Some(end) = &run.end {
                let went = match end.has_passed() {
                    true => Went::Passed,
                    false if end.code.starts_with(INFRA) => Went::Broken,
                    false => Went::Failed,
                };
                self.see((&run.id, None), place, device, went);
            }
            let left = match Left::of(files, &job.id, attempt.number) {
                Ok(left) => left,
                Err(error) => {
                    warn!(job = job.id, attempt = attempt.number, %error, "failed to read cases");
                    self.is_cut = true;
                    continue;
                }
            };
            if left.bytes > self.left_bytes {
                self.is_cut = true;
                continue;
            }
            self.left_bytes -= left.bytes;
            // One that cannot be read ends the look at this run, as one that was cut off does.
            let cases = left.cases().into_iter().flatten();
            for case in cases.map_while(Result::ok) {
                let went = match case.outcome {
                    CaseOutcome::Passed => Went::Passed,
                    CaseOutcome::Failed(_) => Went::Failed,
                    CaseOutcome::BenchFailed(_) => Went::Broken,
                    CaseOutcome::Skipped(_) => Went::Skipped,
                };
                let name = case.name.chars().take(NAME_CHARS_MAX).collect();
                self.see((&run.id, Some(name)), place, device, went);
            }
        }
    }

    /// Notes one. A name that a run has twice counts once: as failed if one of them did.
    fn see(
        &mut self,
        (run, case): (&str, Option<String>),
        job: usize,
        device: Option<&str>,
        went: Went,
    ) {
        let is_in = |text: &String| {
            let name = case.as_deref().unwrap_or_default();
            run.to_lowercase().contains(text) || name.to_lowercase().contains(text)
        };
        if !self.text.as_ref().is_none_or(is_in) {
            return;
        }
        let key = (run.to_owned(), case);
        if !self.cases.contains_key(&key) && self.cases.len() == CASES_MAX {
            self.is_cut = true;
            return;
        }
        let seen = self.cases.entry(key).or_default();
        match seen.last_mut().filter(|last| last.job == job) {
            Some(last) if worse(went, last.went) => last.went = went,
            Some(_) => {}
            None => seen.push(Seen {
                job,
                device: device.map(str::to_owned),
                went,
            }),
        }
    }
}

/// What an attempt left of its cases: in how it ended, for steps that are a case, and in a file, for programs that wrote theirs.
struct Left<'f> {
    files: &'f Files,
    job: &'f str,
    attempt: u32,
    /// Of both.
    bytes: u64,
}

impl<'f> Left<'f> {
    fn of(files: &'f Files, job: &'f str, attempt: u32) -> io::Result<Self> {
        let bytes = size(&files.end(job, attempt))? + size(&files.cases(job, attempt))?;
        Ok(Self {
            files,
            job,
            attempt,
            bytes,
        })
    }

    fn cases(&self) -> io::Result<Cases> {
        let file = self.files.cases(self.job, self.attempt);
        match read_end(self.files, self.job, self.attempt)?.flatten() {
            Some(end) => cases_of(&end, "", file).open(),
            // The server ended before the attempt, or an older one ran it.
            None => match File::open(file) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    Ok(Box::new(std::iter::empty()))
                }
                file => Ok(Box::new(Reader::new(BufReader::new(file?)))),
            },
        }
    }
}

/// Bytes of a file; 0 if there is none.
fn size(path: &Path) -> io::Result<u64> {
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        found => Ok(found?.len()),
    }
}

/// Whether the first of two says more of what is wrong.
fn worse(went: Went, than: Went) -> bool {
    let weight = |went| match went {
        Went::Failed => 3,
        Went::Broken => 2,
        Went::Passed => 1,
        Went::Skipped => 0,
    };
    weight(went) > weight(than)
}

/// Those in which the firmware was judged.
fn judged(seen: &[Seen]) -> impl Iterator<Item = &Seen> {
    seen.iter()
        .filter(|seen| matches!(seen.went, Went::Passed | Went::Failed))
}

fn flaky_rate<'c>(seen: &[Seen], commit: impl Fn(usize) -> Option<&'c str>) -> Option<f64> {
    // Passed, failed.
    let mut commits = BTreeMap::<&str, (u32, u32)>::new();
    for seen in judged(seen) {
        if let Some(commit) = commit(seen.job) {
            let (passed, failed) = commits.entry(commit).or_default();
            *(if seen.went == Went::Passed {
                passed
            } else {
                failed
            }) += 1;
        }
    }
    let repeated = commits
        .values()
        .filter(|(passed, failed)| passed + failed > 1);
    let both = repeated
        .clone()
        .filter(|(passed, failed)| *passed > 0 && *failed > 0);
    let (both, repeated) = (u32::try_from(both.count()), u32::try_from(repeated.count()));
    let (both, repeated) = (both.ok()?, repeated.ok()?);
    (repeated > 0).then(|| f64::from(both) / f64::from(repeated))
}

fn first_bad(seen: &[Seen]) -> Option<usize> {
    let failing = judged(seen).take_while(|seen| seen.went == Went::Failed);
    failing.last().map(|seen| seen.job)
}

fn rank(case: &CaseHistory) -> (bool, bool, &str, Option<&str>) {
    let wavers = case.flaky_rate.is_some_and(|rate| rate > 0.0);
    (
        case.first_bad.is_none(),
        !wavers,
        &case.run,
        case.case.as_deref(),
    )
}

fn looked(job: &Job) -> Looked {
    Looked {
        id: job.id.clone(),
        name: job.name.clone(),
        r#ref: job.r#ref.clone(),
        commit: job.commit.clone(),
        created_ms: job.created_ms,
    }
}

#[cfg(test)]
mod tests;
