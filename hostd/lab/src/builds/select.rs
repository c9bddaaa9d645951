//! Finds the file that a request means: `latest` of a repository's branch, the `.elf` of a build.

use std::ops::ControlFlow;

use super::made::{Made, REPORTED};
use super::{BuildError, JOBS_SEEN_MAX};
use store::builds::{self, Build, File, Status};
use store::{Snapshot, StoreError, jobs};

/// Names that an error lists when several files fit.
const NAMES_TOLD_MAX: usize = 10;

/// A file with the build it is of.
#[derive(Debug, Clone, PartialEq)]
pub struct Artifact {
    pub build: Build,
    /// [`REPORTED`], or the run of the job that made it.
    pub pack: String,
    pub file: File,
}

impl Artifact {
    /// What tells it from the other files of its build.
    fn label(&self) -> String {
        match &*self.pack {
            REPORTED => self.file.name.clone(),
            pack => format!("{pack}/{}", self.file.name),
        }
    }
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
    /// Id of a build or of a job, or `latest`; none is `latest` too.
    pub build: Option<String>,
    /// `owner/name` or `name`
    pub repo: Option<String>,
    /// Branch or tag.
    pub r#ref: Option<String>,
    /// Part of the build.
    pub pack: Option<String>,
    /// Name, or its last part, or pack and name. None = the `.elf`, else the `.hex`, else the `.bin`.
    pub artifact: Option<String>,
}

impl Selector {
    pub(super) fn find(&self, from: &Snapshot, org: &str) -> Result<Artifact, BuildError> {
        let made = match self.build.as_deref() {
            None | Some("latest") => self.latest(from, org)?,
            Some(id) => Made::by_id(from, org, id)?.filter(|made| self.is_of(&made.build)),
        };
        self.choose(&made.ok_or(BuildError::NotFound)?)
    }

    fn latest(&self, from: &Snapshot, org: &str) -> Result<Option<Made>, StoreError> {
        let mut found = None;
        let is_it = |build: &Build| build.status == Status::Success && self.is_of(build);
        builds::newest_first(from, org, |build| {
            if !is_it(&build) {
                return ControlFlow::Continue(());
            }
            found = Some(Made::reported(build));
            ControlFlow::Break(())
        })?;
        if self.pack.as_deref() == Some(REPORTED) {
            return Ok(found);
        }
        let mut seen = 0;
        jobs::newest_first(from, org, None, |job| {
            // Ids sort by time.
            let is_older = found
                .as_ref()
                .is_some_and(|made| *made.build.id > *job.id());
            if is_older || seen == JOBS_SEEN_MAX {
                return ControlFlow::Break(());
            }
            seen += 1;
            let Some(job) = job.job() else {
                return ControlFlow::Continue(());
            };
            let made = Made::by_job(job);
            // Many jobs only test.
            if !is_it(&made.build) || made.artifacts(|_, _| true).is_empty() {
                return ControlFlow::Continue(());
            }
            found = Some(made);
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

    fn choose(&self, made: &Made) -> Result<Artifact, BuildError> {
        let pack = self.pack.as_deref();
        let artifacts = made.artifacts(|id, _| pack.is_none_or(|wanted| wanted == id));
        let that = |is_it: &dyn Fn(&Artifact) -> bool| -> Vec<&Artifact> {
            artifacts.iter().filter(|it| is_it(it)).collect()
        };
        let ways = match &self.artifact {
            None => [Format::Elf, Format::Hex, Format::Bin]
                .map(|format| that(&|it| Format::of(&it.file.name) == format)),
            Some(wanted) => [
                that(&|it| it.label() == *wanted),
                that(&|it| it.file.name == *wanted),
                that(&|it| it.file.name.rsplit('/').next() == Some(wanted)),
            ],
        };
        let found = ways.into_iter().find(|found| !found.is_empty());
        only(&found.unwrap_or_default())
    }
}

fn only(artifacts: &[&Artifact]) -> Result<Artifact, BuildError> {
    match artifacts {
        [] => Err(BuildError::NotFound),
        [only] => Ok((*only).clone()),
        several => Err(BuildError::Ambiguous {
            names: several
                .iter()
                .take(NAMES_TOLD_MAX)
                .map(|artifact| artifact.label())
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
