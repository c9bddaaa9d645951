//! Table of commit statuses: what a repository is to say of a commit, or says already. One for each repository, commit
//! and context, so that an older state can never follow a newer one.

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::notices::{Notice, Standing};
use super::records::{Records, Unreadable};
use super::snapshot::{Range, Source};
use super::webhooks::Attempt;
use super::{Store, StoreError, Writing};

pub(super) const TABLES: [&str; 1] = ["commit_statuses"];

/// `target/commit/context` to status.
const STATUSES: Records<CommitStatus> = Records::new(TABLES[0]);

/// The jobs whose commits a repository marks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Audience {
    /// The name of their organisation.
    pub organisation: String,
    /// What they are called; none if any may be.
    pub pipeline: Option<String>,
}

impl Audience {
    /// Whether the job of a notice is one of them. `organisation` is the name of its own.
    #[must_use]
    pub fn has(&self, notice: &Notice, organisation: &str) -> bool {
        self.organisation == organisation
            && (self.pipeline.is_none() || self.pipeline == notice.name)
    }
}

/// What a repository says of a commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitStatus {
    /// The repository; it has no `/`.
    pub target: String,
    pub org: String,
    /// Hexadecimal, whole.
    pub commit: String,
    /// What the repository calls the pipeline.
    pub context: String,
    /// Job id. A later job has a greater one.
    pub job: String,
    pub standing: Standing,
    /// What is said of the job.
    pub message: String,
    pub at_ms: u64,
    pub attempts: u32,
    /// When the repository is told next; none when it has been told, or refuses.
    pub next_ms: Option<u64>,
    /// The last attempt.
    pub last: Option<Attempt>,
}

impl CommitStatus {
    /// Where it stands in the table.
    #[must_use]
    pub fn key(&self) -> String {
        format!("{}/{}/{}", self.target, self.commit, self.context)
    }

    /// Whether it is about the same job, in the same state.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.job == other.job && self.standing == other.standing
    }

    fn is_newer_than(&self, other: &Self) -> bool {
        (&self.job, self.standing.rank()) > (&other.job, other.standing.rank())
    }
}

/// The status with this key; none if it cannot be read.
///
/// # Errors
/// The storage failed.
pub fn by_key(from: &impl Source, key: &str) -> Result<Option<CommitStatus>, StoreError> {
    STATUSES.get_readable(from, key)
}

pub(super) fn unreadable(from: &impl Source) -> Result<Vec<Unreadable>, StoreError> {
    STATUSES.unreadable(from)
}

/// All that repositories are to be told.
///
/// # Errors
/// The storage failed.
pub fn waiting(from: &impl Source) -> Result<Vec<CommitStatus>, StoreError> {
    let mut found = Vec::new();
    STATUSES.each_readable(from, Range::ALL, |_, status| {
        if status.next_ms.is_some() {
            found.push(status);
        }
        ControlFlow::Continue(())
    })?;
    Ok(found)
}

/// Put a status in the place of an older one; whether it is the newer one.
pub(super) fn owe(w: &Writing<'_>, status: &CommitStatus) -> Result<bool, StoreError> {
    let key = status.key();
    match STATUSES.get_found(w, &key)? {
        None => {}
        Some(Ok(there)) if status.is_newer_than(&there) => {}
        // Whether one that cannot be read is older is not known; it is not overwritten.
        Some(_) => return Ok(false),
    }
    STATUSES.put(w, &key, status)?;
    Ok(true)
}

impl Store {
    /// Store what came of telling a repository of `told`; when it is to be told again, be it of that or of a newer
    /// state that has taken its place.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn status_settle(
        &self,
        told: CommitStatus,
        attempt: Attempt,
        next_ms: Option<u64>,
    ) -> Result<Option<u64>, StoreError> {
        self.write(move |w| {
            let key = told.key();
            let Some(mut status) = STATUSES.get_readable(w, &key)? else {
                return Ok(None);
            };
            if !status.is_same(&told) {
                return Ok(status.next_ms);
            }
            status.attempts = status.attempts.saturating_add(1);
            status.next_ms = next_ms;
            status.last = Some(attempt.clone());
            STATUSES.put(w, &key, &status)?;
            Ok(next_ms)
        })
        .await
    }

    /// Forget what happened before `before_ms`, told or not.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn statuses_forget(&self, before_ms: u64) -> Result<(), StoreError> {
        self.write(move |w| {
            let mut old = Vec::new();
            STATUSES.each_readable(w, Range::ALL, |key, status| {
                if status.at_ms < before_ms {
                    old.push(key.to_owned());
                }
                ControlFlow::Continue(())
            })?;
            for key in &old {
                STATUSES.remove(w, key)?;
            }
            Ok(())
        })
        .await
    }
}
