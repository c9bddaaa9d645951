//! Finds the file that a request means: `latest` of a repository's branch, the `.elf` of a build.

use std::ops::ControlFlow;

use super::{BuildError, is_artifact};
use store::builds::{self, Build, File, Status};
use store::{Snapshot, StoreError};

/// Names that an error lists when several files fit.
const NAMES_TOLD_MAX: usize = 10;

/// A file with the build it is of.
#[derive(Debug, Clone, PartialEq)]
pub struct Artifact {
    pub build: Build,
    pub file: File,
}

/// What kind of firmware a file is, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Elf,
    Hex,
    Bin,
    Uf2,
    /// Nothing that could be flashed.
    Other,
}

impl Format {
    /// By the ending of a name, in any case.
    #[must_use]
    pub fn of(name: &str) -> Self {
        let ending = name.rsplit_once('.').map(|(_, e)| e.to_ascii_lowercase());
        match ending.as_deref() {
            Some("elf" | "axf") => Self::Elf,
            Some("hex" | "ihex") => Self::Hex,
            Some("bin") => Self::Bin,
            Some("uf2") => Self::Uf2,
            _ => Self::Other,
        }
    }
}

/// Which file of which build; none = any.
#[derive(Debug, Clone, Default)]
pub struct Selector {
    /// Id, or `latest`; none is `latest` too.
    pub build: Option<String>,
    /// `owner/name` or `name`
    pub repo: Option<String>,
    /// Branch or tag.
    pub r#ref: Option<String>,
    /// Name, or its last part. None = the `.elf`, else the `.hex`, else the `.bin`.
    pub artifact: Option<String>,
}

impl Selector {
    pub(super) fn find(&self, from: &Snapshot, org: &str) -> Result<Artifact, BuildError> {
        let build = match self.build.as_deref() {
            None | Some("latest") => self.latest(from, org)?,
            Some(id) => builds::by_id(from, org, id)?.filter(|b| self.is_of(b)),
        };
        let build = build.ok_or(BuildError::NotFound)?;
        let file = self.choose(&build)?;
        Ok(Artifact { build, file })
    }

    fn latest(&self, from: &Snapshot, org: &str) -> Result<Option<Build>, StoreError> {
        let mut found = None;
        builds::newest_first(from, org, |build| {
            if build.status != Status::Success || !self.is_of(&build) {
                return ControlFlow::Continue(());
            }
            found = Some(build);
            ControlFlow::Break(())
        })?;
        Ok(found)
    }

    fn is_of(&self, build: &Build) -> bool {
        let origin = &build.origin;
        let repo = self.repo.as_ref().is_none_or(|repo| {
            let whole = format!("{}/{}", origin.repo_owner, origin.repo);
            repo.eq_ignore_ascii_case(&origin.repo) || repo.eq_ignore_ascii_case(&whole)
        });
        let wanted = self.r#ref.as_deref();
        repo && wanted.is_none_or(|wanted| short_ref(wanted) == short_ref(&origin.r#ref))
    }

    fn choose(&self, build: &Build) -> Result<File, BuildError> {
        let artifacts = || build.files.iter().filter(|f| is_artifact(f));
        let Some(wanted) = &self.artifact else {
            let of = |format| move |f: &&File| Format::of(&f.name) == format;
            let best = [Format::Elf, Format::Hex, Format::Bin]
                .into_iter()
                .map(|format| artifacts().filter(of(format)).collect::<Vec<_>>())
                .find(|files| !files.is_empty());
            return only(best.unwrap_or_default());
        };
        if let Some(exact) = artifacts().find(|f| f.name == *wanted) {
            return Ok(exact.clone());
        }
        let last = |f: &&File| f.name.rsplit('/').next() == Some(wanted);
        only(artifacts().filter(last).collect())
    }
}

fn only(files: Vec<&File>) -> Result<File, BuildError> {
    match files.as_slice() {
        [] => Err(BuildError::NotFound),
        [only] => Ok((*only).clone()),
        several => Err(BuildError::Ambiguous {
            names: several
                .iter()
                .take(NAMES_TOLD_MAX)
                .map(|f| f.name.clone())
                .collect(),
        }),
    }
}

/// `refs/heads/main` is `main` to people.
fn short_ref(name: &str) -> &str {
    let stripped = name
        .strip_prefix("refs/heads/")
        .or_else(|| name.strip_prefix("refs/tags/"));
    stripped.unwrap_or(name)
}
