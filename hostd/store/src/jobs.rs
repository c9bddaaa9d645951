//! Tables of jobs: each with its place in the queue and its attempts, the requests that made them, and what the
//! queue must remember of the benches. What a job leaves behind lies in files; the record lists those that are blobs.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::commit_statuses::Audience;
use super::measurements::{self, Measurement};
use super::notices::{self, Notice};
use super::records::{Pairs, Records, least_id, pair};
use super::snapshot::{Range, Source};
use super::{Store, StoreError, Writing};

mod found;
mod heads;

pub use found::{Found, Unreadable};
pub use heads::{Forgotten, Head, Overview};

pub(super) const TABLES: [&str; 5] = [
    "jobs",
    "job_requests",
    "job_quarantines",
    "job_epochs",
    heads::TABLE,
];

/// Longest name, reference or commit of a job, in characters.
pub const TEXT_CHARS_MAX: usize = 255;

/// `org/id` to job; ids sort by time.
const JOBS: Records<Job> = Records::new(TABLES[0]);

/// `org/user/key` to the request that had the key.
const REQUESTS: Records<Request> = Records::new(TABLES[1]);

/// Device id to the reason why no job gets it.
const QUARANTINES: Records<Quarantine> = Records::new(TABLES[2]);

/// [`EPOCH`] to the greatest number that was given to an attempt.
const EPOCHS: Records<u64> = Records::new(TABLES[3]);
const EPOCH: &str = "epoch";

/// In the same table: 1 while a server runs, 0 once it has ended in good order.
const RUNNING: &str = "running";

/// Sources that came with a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Archive {
    /// Lower-case hexadecimal; the blob's name.
    pub sha256: String,
    pub size_bytes: u64,
    pub entries: u64,
    pub unpacked_bytes: u64,
    /// Path of the pipeline in it.
    pub definition: String,
}

/// A file that a run made, kept as a blob.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct File {
    /// Relative path, `/` between its parts.
    pub name: String,
    pub size_bytes: u64,
    /// Lower-case hexadecimal; the blob's name.
    pub sha256: String,
}

/// The [code](End::code) of an end at which nothing had failed.
pub const PASSED: &str = "passed";

/// How a run or an attempt ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// The scheduler's, as JSON.
    pub ending: Value,
    /// Stable word: `infra.device_lost`.
    pub code: String,
    /// What happened and what to do.
    pub message: String,
}

impl End {
    /// Whether nothing had failed.
    #[must_use]
    pub fn has_passed(&self) -> bool {
        self.code == PASSED
    }
}

/// A run of the job's plan, in its order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// `fw.debug.f0`
    pub id: String,
    pub is_bench: bool,
    pub needs: Vec<String>,
    /// Chips that a build is for.
    pub targets: Vec<String>,
    /// None until it is over.
    pub end: Option<End>,
}

/// One attempt at a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// From 1, within the job.
    pub number: u32,
    /// Place of its run.
    pub run: u32,
    pub epoch: u64,
    /// Device id; none for a build.
    pub device: Option<String>,
    /// The lease under which it has the device.
    pub lease_id: Option<String>,
    pub assigned_ms: u64,
    pub started_ms: Option<u64>,
    pub ended_ms: Option<u64>,
    pub end: Option<End>,
    pub log_bytes: u64,
    /// What it made. Only of one that passed it is known to be whole.
    pub files: Vec<File>,
    /// How many values it measured that were kept. 0 in records of earlier versions.
    #[serde(default)]
    pub measured: u32,
}

/// A job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// ULID.
    pub id: String,
    pub org: String,
    /// User whose credential submitted it.
    pub user: String,
    pub name: Option<String>,
    /// Branch or tag.
    pub r#ref: Option<String>,
    pub commit: Option<String>,
    pub retry_of: Option<String>,
    pub archive: Option<Archive>,
    /// The scheduler's three axes, as JSON.
    pub axes: Value,
    /// Bytes of its files that nothing else here tells of: the pipeline's text, how its attempts ended.
    #[serde(default)]
    pub other_bytes: u64,
    /// Bytes of the server's memory that it was taken in with, which count until it is over. 0 in records of earlier
    /// versions.
    #[serde(default)]
    pub memory_bytes: u64,
    /// What the scheduler needs to go on with it, as JSON; none once it is over.
    pub queue: Option<Value>,
    /// How it ended.
    pub end: Option<End>,
    pub runs: Vec<Run>,
    pub attempts: Vec<Attempt>,
    pub created_ms: u64,
    pub started_ms: Option<u64>,
    pub finished_ms: Option<u64>,
}

/// A request that made a job, so that the same one again makes no second.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    pub job: String,
    /// SHA-256 of what was asked, lower-case hexadecimal.
    pub digest: String,
    pub at_ms: u64,
}

/// Who used which key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestKey {
    pub org: String,
    pub user: String,
    /// Lower-case hexadecimal: whatever the client chose, it has no `/`.
    pub key: String,
}

/// Why no job gets a device until a person re-admits it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quarantine {
    pub device: String,
    pub reason: String,
    /// The jobs it happened to.
    pub jobs: Vec<String>,
    pub since_ms: u64,
}

/// What changes in one transaction.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Changes {
    /// Jobs as they are from now on.
    pub jobs: Vec<Job>,
    /// The greatest number that was given to an attempt, if it has grown.
    pub epoch: Option<u64>,
    /// New quarantines.
    pub quarantines: Vec<Quarantine>,
    /// The request that made a job.
    pub request: Option<(RequestKey, Request)>,
    /// What others are to be told of it. What nobody listens to is not stored.
    pub notices: Vec<Notice>,
    /// Whose commits repositories mark.
    pub repositories: Arc<[Audience]>,
    /// What was measured, with its organisation.
    pub measurements: Vec<(String, Vec<Measurement>)>,
}

impl Job {
    /// Bytes that it keeps on disk, for itself or for the runs that are to come. What jobs share counts for each.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let sources = self.archive.iter().map(|archive| match self.queue {
            Some(_) => archive.size_bytes.saturating_add(archive.unpacked_bytes),
            None => archive.size_bytes,
        });
        let attempts = self.attempts.iter().map(|attempt| {
            let files = attempt.files.iter().map(|file| file.size_bytes);
            files.fold(attempt.log_bytes, u64::saturating_add)
        });
        sources
            .chain(attempts)
            .fold(self.other_bytes, u64::saturating_add)
    }
}

/// One job of an organisation.
///
/// # Errors
/// The storage failed.
pub fn by_id(from: &impl Source, org: &str, id: &str) -> Result<Option<Found>, StoreError> {
    found::get(from, &pair(org, id))
}

/// Visit the jobs of an organisation, newest first, those before `before` if that is given, until `visit` breaks.
///
/// # Errors
/// The storage failed.
pub fn newest_first(
    from: &impl Source,
    org: &str,
    before: Option<&str>,
    visit: impl FnMut(Found) -> ControlFlow<()>,
) -> Result<(), StoreError> {
    newest_first_since(from, org, None, before, visit)
}

/// As [`newest_first`], without those that are older than `since` by the time that their id has: all that are not older by
/// their own are visited.
///
/// # Errors
/// The storage failed.
pub fn newest_first_since(
    from: &impl Source,
    org: &str,
    since: Option<&str>,
    before: Option<&str>,
    mut visit: impl FnMut(Found) -> ControlFlow<()>,
) -> Result<(), StoreError> {
    let least = since.and_then(least_id);
    let keys = Pairs::between(org, least.as_deref(), before);
    let range = keys.backwards();
    JOBS.each_found(from, range, |key, read| visit(Found::of(key, read)))
}

/// The request that had this key.
///
/// # Errors
/// The storage failed.
pub fn request(from: &impl Source, key: &RequestKey) -> Result<Option<Request>, StoreError> {
    REQUESTS.get(from, &key.text())
}

/// The greatest number that was given to an attempt; none if that cannot be read any more.
///
/// # Errors
/// The storage failed.
pub fn epoch(from: &impl Source) -> Result<Option<u64>, StoreError> {
    let found = EPOCHS.get_found(from, EPOCH)?;
    Ok(found.map_or(Some(0), Result::ok))
}

/// Whether the server that ran last did not end in good order.
///
/// # Errors
/// The storage failed.
pub fn was_running(from: &impl Source) -> Result<bool, StoreError> {
    let found = EPOCHS.get_found(from, RUNNING)?;
    Ok(matches!(found, Some(Ok(1))))
}

/// Quarantines by device; none for one that cannot be read.
///
/// # Errors
/// The storage failed.
pub fn quarantines(from: &impl Source) -> Result<Vec<(String, Option<Quarantine>)>, StoreError> {
    let mut all = Vec::new();
    QUARANTINES.each_found(from, Range::ALL, |device, read| {
        all.push((device.to_owned(), read.ok()));
        ControlFlow::Continue(())
    })?;
    Ok(all)
}

/// Visit all jobs of all organisations.
///
/// # Errors
/// The storage failed.
pub fn each(from: &impl Source, mut visit: impl FnMut(Found)) -> Result<(), StoreError> {
    JOBS.each_found(from, Range::ALL, |key, read| {
        visit(Found::of(key, read));
        ControlFlow::Continue(())
    })
}

/// Blobs that any job of any organisation refers to, also those of jobs that cannot be read.
///
/// # Errors
/// The storage failed.
pub fn blobs(from: &impl Source) -> Result<HashSet<String>, StoreError> {
    let mut found = HashSet::new();
    each(from, |job| match job {
        Found::Job(job) => {
            found.extend(job.archive.map(|archive| archive.sha256));
            let files = job.attempts.into_iter().flat_map(|attempt| attempt.files);
            found.extend(files.map(|file| file.sha256));
        }
        Found::Unreadable(job) => found.extend(job.blobs()),
    })?;
    Ok(found)
}

impl RequestKey {
    fn text(&self) -> String {
        format!("{}/{}/{}", self.org, self.user, self.key)
    }
}

impl Store {
    /// Store what was decided, all of it or nothing.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn jobs_change(&self, changes: Changes) -> Result<(), StoreError> {
        self.write(move |w| {
            for job in &changes.jobs {
                put(w, job)?;
            }
            if let Some(epoch) = &changes.epoch {
                EPOCHS.put(w, EPOCH, epoch)?;
            }
            if let Some((key, request)) = &changes.request {
                REQUESTS.put(w, &key.text(), request)?;
            }
            for quarantine in &changes.quarantines {
                QUARANTINES.put(w, &quarantine.device, quarantine)?;
            }
            for (org, measured) in &changes.measurements {
                measurements::add(w, org, measured)?;
            }
            for notice in &changes.notices {
                notices::put(w, notice, &changes.repositories)?;
            }
            Ok(())
        })
        .await
    }

    /// Store whether a server runs, which has to end in good order.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn jobs_running(&self, is_running: bool) -> Result<(), StoreError> {
        self.write(move |w| EPOCHS.put(w, RUNNING, &u64::from(is_running)))
            .await
    }

    /// End a quarantine; whether there was one.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn quarantine_end(&self, device: &str) -> Result<bool, StoreError> {
        let device = device.to_owned();
        self.write(move |w| QUARANTINES.remove(w, &device)).await
    }

    /// Delete an organisation's oldest jobs that are over, until at least `bytes` are free; none if that cannot be.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn jobs_give_way(&self, org: &str, bytes: u64) -> Result<Vec<Forgotten>, StoreError> {
        let org = org.to_owned();
        self.write(move |w| {
            let oldest = heads::oldest(w, &org, bytes)?;
            delete(w, &oldest)?;
            Ok(oldest)
        })
        .await
    }

    /// Delete jobs that finished before `before_ms`, and requests made before it. One that cannot be read is kept.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn jobs_forget(&self, before_ms: u64) -> Result<Vec<Forgotten>, StoreError> {
        self.write(move |w| {
            let old = heads::finished_before(w, before_ms)?;
            let mut requests = Vec::new();
            REQUESTS.each_found(w, Range::ALL, |key, request| {
                if request.is_ok_and(|request| request.at_ms < before_ms) {
                    requests.push(key.to_owned());
                }
                ControlFlow::Continue(())
            })?;
            for key in &requests {
                REQUESTS.remove(w, key)?;
            }
            delete(w, &old)?;
            Ok(old)
        })
        .await
    }
}

fn delete(w: &Writing<'_>, jobs: &[Forgotten]) -> Result<(), StoreError> {
    for job in jobs {
        heads::remove(w, &job.org, &job.id)?;
        JOBS.remove(w, &pair(&job.org, &job.id))?;
    }
    Ok(())
}

fn put(w: &Writing<'_>, job: &Job) -> Result<(), StoreError> {
    heads::put(w, &job.org, &job.id, &Head::of(job))?;
    JOBS.put(w, &pair(&job.org, &job.id), job)
}
