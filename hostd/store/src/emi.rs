//! Tables of the analysis of boards: projects, uploads, boards and their runs. Files are blobs, which the records list.
//!
//! ```text
//! project ── upload (a key, later its bytes) ── board (bytes) ── runs (artifacts)
//! ```

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::records::{Pairs, Records};
use super::snapshot::{Range, Source};
use super::{Store, StoreError, Writing};

pub mod boards;
pub mod projects;
mod run;
pub mod runs;
pub mod uploads;

pub(super) const TABLES: [&str; 4] = [projects::TABLE, uploads::TABLE, boards::TABLE, runs::TABLE];

/// Bytes that are kept as a blob.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct File {
    /// Lower-case hexadecimal; the blob's name.
    pub sha256: String,
    pub size_bytes: u64,
}

/// What an organisation has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Usage {
    pub projects: u64,
    pub boards: u64,
    /// Sizes of its blobs, by digest: each counts once, however many records list it.
    blobs: HashMap<String, u64>,
}

impl Usage {
    /// Bytes that are kept.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.blobs.values().sum()
    }

    fn keep(&mut self, file: File) {
        self.blobs.insert(file.sha256, file.size_bytes);
    }
}

/// Why nothing was added or changed.
#[derive(Debug, thiserror::Error)]
pub enum EmiError {
    /// There is none in this organisation.
    #[error("find the project, board or run")]
    NotFound,
    /// The organisation has as many projects, boards or runs as it may.
    #[error("add one more: there are {max} already")]
    TooMany { what: Counted, max: u64 },
    /// More bytes than the organisation may keep.
    #[error("keep more than {max} bytes")]
    Bytes { max: u64 },
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What there may be too many of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    Projects,
    Uploads,
    Boards,
    Runs,
    /// Runs of the organisation that wait.
    WaitingOfOrg,
    /// Runs of all organisations that wait.
    Waiting,
}

impl Counted {
    /// As people read it, with the key of the configuration that bounds it.
    #[must_use]
    pub fn described(self) -> &'static str {
        match self {
            Self::Projects => "projects of the organisation (emi.projects_max)",
            Self::Uploads => "uploads of the organisation that are no boards yet",
            Self::Boards => "boards of the organisation (emi.boards_max)",
            Self::Runs => "runs of the organisation (emi.runs_max)",
            Self::WaitingOfOrg => "runs of the organisation that wait (emi.queued_per_org_max)",
            Self::Waiting => "runs that wait (emi.queued_max)",
        }
    }

    /// Whether there is room again by itself, when some of it is done.
    #[must_use]
    pub fn passes(self) -> bool {
        matches!(self, Self::WaitingOfOrg | Self::Waiting)
    }
}

/// Blobs that any record of these tables refers to.
///
/// # Errors
/// The storage failed.
pub fn blobs(from: &impl Source) -> Result<HashSet<String>, StoreError> {
    let mut found = uploads::blobs(from)?;
    found.extend(boards::blobs(from)?);
    found.extend(runs::blobs(from)?);
    Ok(found)
}

/// What each organisation has.
///
/// # Errors
/// The storage failed.
pub fn usage(from: &impl Source) -> Result<BTreeMap<String, Usage>, StoreError> {
    let mut found: BTreeMap<String, Usage> = BTreeMap::new();
    projects::each(from, |project| {
        found.entry(project.org).or_default().projects += 1;
    })?;
    uploads::each(from, |upload| {
        if let Some(file) = upload.file {
            found.entry(upload.org).or_default().keep(file);
        }
    })?;
    boards::each(from, |board| {
        let used = found.entry(board.org).or_default();
        used.boards += 1;
        used.keep(board.file);
    })?;
    runs::each(from, |run| {
        let used = found.entry(run.org).or_default();
        for artifact in run.artifacts {
            used.keep(artifact.file);
        }
    })?;
    Ok(found)
}

/// The blobs of an organisation.
fn blobs_of(from: &impl Source, org: &str) -> Result<Usage, StoreError> {
    let mut used = Usage::default();
    uploads::each(from, |upload| {
        if let Some(file) = upload.file.filter(|_| upload.org == org) {
            used.keep(file);
        }
    })?;
    boards::newest_first(from, org, None, |board| {
        used.keep(board.file);
        ControlFlow::Continue(())
    })?;
    runs::newest_first(from, org, None, |run| {
        let files = run.artifacts.into_iter().map(|artifact| artifact.file);
        files.for_each(|file| used.keep(file));
        ControlFlow::Continue(())
    })?;
    Ok(used)
}

/// Whether an organisation may keep these files as well.
fn admit<'f>(
    w: &Writing<'_>,
    org: &str,
    files: impl Iterator<Item = &'f File>,
    bytes_max: u64,
) -> Result<(), EmiError> {
    let mut used = blobs_of(w, org)?;
    files.for_each(|file| used.keep(file.clone()));
    if used.bytes() > bytes_max {
        return Err(EmiError::Bytes { max: bytes_max });
    }
    Ok(())
}

/// Bytes that an organisation keeps.
///
/// # Errors
/// The storage failed.
pub fn bytes_of(from: &impl Source, org: &str) -> Result<u64, StoreError> {
    Ok(blobs_of(from, org)?.bytes())
}

impl Store {
    /// Delete a project with everything in it; the runs that were not finished.
    ///
    /// # Errors
    /// There is no such project, or the storage failed.
    pub async fn emi_project_delete(&self, org: &str, id: &str) -> Result<Vec<String>, EmiError> {
        let (org, id) = (org.to_owned(), id.to_owned());
        self.write(move |w| {
            projects::by_id(w, &org, &id)?.ok_or(EmiError::NotFound)?;
            let unfinished = runs::forget_where(w, &org, |run| run.project == id)?;
            boards::forget_where(w, &org, |board| board.project == id)?;
            uploads::forget_where(w, |upload| upload.org == org && upload.project == id)?;
            projects::forget(w, &org, &id)?;
            Ok(unfinished)
        })
        .await
    }

    /// Delete a board with its runs; those that were not finished.
    ///
    /// # Errors
    /// There is no such board, or the storage failed.
    pub async fn emi_board_delete(&self, org: &str, id: &str) -> Result<Vec<String>, EmiError> {
        let (org, id) = (org.to_owned(), id.to_owned());
        self.write(move |w| {
            boards::by_id(w, &org, &id)?.ok_or(EmiError::NotFound)?;
            let unfinished = runs::forget_where(w, &org, |run| run.board == id)?;
            boards::forget_where(w, &org, |board| board.id == id)?;
            Ok(unfinished)
        })
        .await
    }

    /// Delete boards made before `boards_ms` whose runs are all finished, with these, and uploads that are of no use any
    /// more at `now_ms`; how many boards and uploads.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn emi_forget(
        &self,
        boards_ms: u64,
        now_ms: u64,
    ) -> Result<(usize, usize), StoreError> {
        self.write(move |w| {
            let mut busy = HashSet::new();
            runs::each(w, |run| {
                if !run.status.is_final() {
                    busy.insert(run.board);
                }
            })?;
            let mut old = BTreeMap::<String, HashSet<String>>::new();
            boards::each(w, |board| {
                if board.created_ms < boards_ms && !busy.contains(&board.id) {
                    old.entry(board.org).or_default().insert(board.id);
                }
            })?;
            for (org, ids) in &old {
                runs::forget_where(w, org, |run| ids.contains(&run.board))?;
                boards::forget_where(w, org, |board| ids.contains(&board.id))?;
            }
            let uploads = uploads::forget_where(w, |upload| upload.kept_until_ms < now_ms)?;
            Ok((old.values().map(HashSet::len).sum(), uploads))
        })
        .await
    }
}
