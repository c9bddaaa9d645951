//! Table of builds reported by CI. Their files are blobs, which the record lists.

use std::collections::HashSet;
use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::records::{Pairs, Records, pair};
use super::snapshot::{Range, Source};
use super::{Store, StoreError, Writing};

pub(super) const TABLES: [&str; 1] = ["builds"];

/// `org/id` to build; ids sort by time.
const BUILDS: Records<Build> = Records::new(TABLES[0]);

/// The state of a build.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Files are still to come.
    Open,
    Success,
    Failure,
}

/// What a file is to a build.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Artifact,
    Log,
}

/// Where a build comes from. Empty = unknown.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    pub repo_owner: String,
    pub repo: String,
    /// Branch or tag.
    pub r#ref: String,
    pub sha: String,
    pub event: String,
    pub workflow: String,
    pub actor: String,
    pub run_id: String,
    pub run_attempt: String,
}

/// A file of a build.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct File {
    pub kind: Kind,
    /// Relative path, `/` between its parts; unique among the files of its kind.
    pub name: String,
    pub content_type: String,
    pub size_bytes: u64,
    /// Lower-case hexadecimal; the blob's name.
    pub sha256: String,
    pub created_ms: u64,
}

/// A build.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Build {
    /// ULID.
    pub id: String,
    pub org: String,
    /// User whose credential reported it.
    pub user: String,
    pub origin: Origin,
    pub target: String,
    pub name: String,
    pub wiring: Map<String, Value>,
    pub status: Status,
    pub reason: String,
    pub files: Vec<File>,
    pub created_ms: u64,
    /// None while it is open.
    pub finished_ms: Option<u64>,
}

impl Build {
    fn bytes(&self) -> u64 {
        self.files.iter().map(|f| f.size_bytes).sum()
    }
}

/// One build of an organisation.
///
/// # Errors
/// The storage failed.
pub fn by_id(from: &impl Source, org: &str, id: &str) -> Result<Option<Build>, StoreError> {
    BUILDS.get(from, &pair(org, id))
}

/// Visit the builds of an organisation, newest first, until `visit` breaks.
///
/// # Errors
/// The storage failed.
pub fn newest_first(
    from: &impl Source,
    org: &str,
    mut visit: impl FnMut(Build) -> ControlFlow<()>,
) -> Result<(), StoreError> {
    let keys = Pairs::of(org);
    let range = keys.backwards();
    BUILDS.each(from, range, |_, build| visit(build))
}

/// Bytes of all files of an organisation.
///
/// # Errors
/// The storage failed.
pub fn bytes_of(from: &impl Source, org: &str) -> Result<u64, StoreError> {
    let mut bytes = 0;
    newest_first(from, org, |build| {
        bytes += build.bytes();
        ControlFlow::Continue(())
    })?;
    Ok(bytes)
}

/// Blobs that any build of any organisation refers to.
///
/// # Errors
/// The storage failed.
pub fn blobs(from: &impl Source) -> Result<HashSet<String>, StoreError> {
    let mut found = HashSet::new();
    BUILDS.each(from, Range::ALL, |_, build| {
        found.extend(build.files.into_iter().map(|f| f.sha256));
        ControlFlow::Continue(())
    })?;
    Ok(found)
}

impl Store {
    /// Add a build, deleting finished ones of its organisation, oldest first, to stay within
    /// `count_max`. Returns whether it was stored: not if all the others are still open.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn build_add(&self, build: Build, count_max: usize) -> Result<bool, StoreError> {
        self.write(move |w| {
            let mut there = Vec::new();
            newest_first(w, &build.org, |old| {
                there.push((old.id, old.status));
                ControlFlow::Continue(())
            })?;
            while there.len() >= count_max {
                let oldest = there.iter().rposition(|(_, s)| *s != Status::Open);
                let Some(oldest) = oldest else {
                    return Ok(false);
                };
                let (id, _) = there.remove(oldest);
                BUILDS.remove(w, &pair(&build.org, &id))?;
            }
            BUILDS.put(w, &pair(&build.org, &build.id), &build)?;
            Ok(true)
        })
        .await
    }

    /// Change a build, given the bytes of all files of its organisation; returns what `f` returns.
    /// None = there is no such build. An error from `f` changes nothing.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn build_change<T, E>(
        &self,
        org: &str,
        id: &str,
        f: impl Fn(&mut Build, u64) -> Result<T, E> + Send + 'static,
    ) -> Result<Option<Result<T, E>>, StoreError>
    where
        T: Send + 'static,
        E: Send + 'static,
    {
        let (org, key) = (org.to_owned(), pair(org, id));
        self.write(move |w| {
            let Some(mut build) = BUILDS.get(w, &key)? else {
                return Ok::<_, StoreError>(None);
            };
            let changed = f(&mut build, bytes_of(w, &org)?);
            if changed.is_ok() {
                BUILDS.put(w, &key, &build)?;
            }
            Ok(Some(changed))
        })
        .await
    }

    /// Delete builds made before `before_ms`; returns how many.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn builds_forget(&self, before_ms: u64) -> Result<usize, StoreError> {
        self.write(move |w| {
            let old = older_than(w, before_ms)?;
            for key in &old {
                BUILDS.remove(w, key)?;
            }
            Ok(old.len())
        })
        .await
    }
}

fn older_than(w: &Writing<'_>, before_ms: u64) -> Result<Vec<String>, StoreError> {
    let mut keys = Vec::new();
    BUILDS.each(w, Range::ALL, |key, build| {
        if build.created_ms < before_ms {
            keys.push(key.to_owned());
        }
        ControlFlow::Continue(())
    })?;
    Ok(keys)
}
