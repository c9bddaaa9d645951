//! A few facts of every job, beside its record: a start reads these alone, and of the records those of unfinished
//! jobs. Whoever writes a record writes its head in the same transaction.

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::super::records::{Pairs, Records, pair};
use super::super::snapshot::{Range, Source};
use super::super::{Store, StoreError, Writing};
use super::{Found, JOBS, Job, found};

pub(super) const TABLE: &str = "job_heads";

/// `org/id` to the head.
const HEADS: Records<Head> = Records::new(TABLE);

/// What is known of a job without its record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// It is not over, or that cannot be told.
    pub is_open: bool,
    /// Bytes that it keeps on disk.
    pub bytes: u64,
    pub finished_ms: Option<u64>,
}

/// All jobs, in short.
#[derive(Debug, Clone, Default)]
pub struct Overview {
    /// Organisation, id and head of each, in the order of organisations and ids.
    pub heads: Vec<(String, String, Head)>,
    /// Organisation and id of those that are not over, in the order of their ids.
    pub open: Vec<(String, String)>,
}

/// A job that was deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forgotten {
    pub id: String,
    pub org: String,
    /// Bytes that it kept.
    pub bytes: u64,
}

impl Head {
    pub(super) fn of(job: &Job) -> Self {
        Self {
            is_open: job.queue.is_some(),
            bytes: job.bytes(),
            finished_ms: job.finished_ms,
        }
    }

    /// Each start tries to read it again.
    fn unreadable(bytes: u64) -> Self {
        Self {
            is_open: true,
            bytes,
            finished_ms: None,
        }
    }
}

impl Store {
    /// All jobs in short. Heads that are missing, as in a store of an earlier version, or that cannot be read, are made
    /// anew from the records.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn jobs_overview(&self) -> Result<Overview, StoreError> {
        if let Some(overview) = self.read(overview).await? {
            return Ok(overview);
        }
        self.write(renew).await?;
        let overview = self.read(overview).await?;
        Ok(overview.unwrap_or_default())
    }
}

/// None if the heads do not fit the jobs.
fn overview(from: &impl Source) -> Result<Option<Overview>, StoreError> {
    if HEADS.count(from)? != JOBS.count(from)? {
        return Ok(None);
    }
    let (mut heads, mut is_whole) = (Vec::new(), true);
    HEADS.each_found(from, Range::ALL, |key, head| {
        match (key.split_once('/'), head) {
            (Some((org, id)), Ok(head)) => heads.push((org.to_owned(), id.to_owned(), head)),
            _ => is_whole = false,
        }
        ControlFlow::Continue(())
    })?;
    let mut open = Vec::new();
    for (org, id, _) in heads.iter().filter(|(_, _, head)| head.is_open) {
        match found::get(from, &pair(org, id))? {
            Some(_) => open.push((org.clone(), id.clone())),
            None => is_whole = false,
        }
    }
    open.sort_by(|(_, a), (_, b)| a.cmp(b));
    Ok(is_whole.then_some(Overview { heads, open }))
}

fn renew(w: &Writing<'_>) -> Result<(), StoreError> {
    let mut gone = Vec::new();
    HEADS.each_found(w, Range::ALL, |key, _| {
        gone.push(key.to_owned());
        ControlFlow::Continue(())
    })?;
    for key in &gone {
        HEADS.remove(w, key)?;
    }
    let mut heads = Vec::new();
    JOBS.each_found(w, Range::ALL, |key, read| {
        let head = match Found::of(key, read) {
            Found::Job(job) => Head::of(&job),
            Found::Unreadable(job) => Head::unreadable(job.bytes),
        };
        heads.push((key.to_owned(), head));
        ControlFlow::Continue(())
    })?;
    for (key, head) in &heads {
        HEADS.put(w, key, head)?;
    }
    Ok(())
}

pub(super) fn put(w: &Writing<'_>, org: &str, id: &str, head: &Head) -> Result<(), StoreError> {
    HEADS.put(w, &pair(org, id), head)
}

pub(super) fn remove(w: &Writing<'_>, org: &str, id: &str) -> Result<bool, StoreError> {
    HEADS.remove(w, &pair(org, id))
}

/// Jobs that finished before `before_ms`.
pub(super) fn finished_before(
    from: &impl Source,
    before_ms: u64,
) -> Result<Vec<Forgotten>, StoreError> {
    let mut old = Vec::new();
    each_finished(from, Range::ALL, |job, finished_ms| {
        if finished_ms < before_ms {
            old.push(job);
        }
        ControlFlow::Continue(())
    })?;
    Ok(old)
}

/// The oldest jobs of an organisation that are over and together keep `bytes`; none if all of them keep less.
pub(super) fn oldest(
    from: &impl Source,
    org: &str,
    bytes: u64,
) -> Result<Vec<Forgotten>, StoreError> {
    let keys = Pairs::of(org);
    let range = keys.forwards();
    let (mut found, mut left) = (Vec::new(), bytes);
    each_finished(from, range, |job, _| {
        left = left.saturating_sub(job.bytes);
        found.push(job);
        match left {
            0 => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    })?;
    if left > 0 {
        found.clear();
    }
    Ok(found)
}

/// Visit jobs that are over, with when that was.
fn each_finished(
    from: &impl Source,
    range: Range<'_>,
    mut visit: impl FnMut(Forgotten, u64) -> ControlFlow<()>,
) -> Result<(), StoreError> {
    HEADS.each(from, range, |key, head| {
        let finished_ms = head.finished_ms.filter(|_| !head.is_open);
        let Some(((org, id), finished_ms)) = key.split_once('/').zip(finished_ms) else {
            return ControlFlow::Continue(());
        };
        let job = Forgotten {
            id: id.to_owned(),
            org: org.to_owned(),
            bytes: head.bytes,
        };
        visit(job, finished_ms)
    })
}
