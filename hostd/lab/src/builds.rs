//! Builds that CI reports, with their firmware: kept within quotas, found by repository and branch,
//! deleted after a while. What jobs build is found the same way; the jobs keep it.

use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use blobs::FileParts;
use serde_json::{Map, Value};
use tracing::{info, warn};

use base::clock::Clock;
use base::config::BuildsConfig;
use base::id;
use base::space::Space;
use blobs::{Blobs, Staged};
use store::builds::{self, Build, File, Kind, Origin, Status};
use store::jobs;
use store::{Store, StoreError};

mod fitting;
mod limits;
mod made;
mod select;
mod tidy;

use fitting::Fitting;
use limits::Limits;
use made::Made;
pub use made::REPORTED;
pub use select::{Artifact, Format, Selector};

/// Longest name of a file, in characters.
pub const NAME_CHARS_MAX: usize = 255;

/// Jobs that are looked through for what they built, newest first.
const JOBS_SEEN_MAX: usize = 1000;

/// All builds of all organisations.
#[derive(Debug)]
pub struct Builds {
    blobs: Arc<Blobs>,
    config: BuildsConfig,
    store: Store,
    clock: Clock,
}

/// Why a build or a file of it could not be stored or found.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    #[error("there is no such build or file")]
    NotFound,
    #[error("the build has its result already")]
    Finished,
    #[error("the build has another file named so")]
    NameTaken,
    #[error("{what}: {max} at most")]
    Full { what: &'static str, max: u64 },
    #[error("several files fit: {}", names.join(", "))]
    Ambiguous { names: Vec<String> },
    #[error("{field}: {message}")]
    Invalid {
        field: &'static str,
        message: String,
    },
    #[error("keep a file in {}", path.display())]
    Blob {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What describes a build when it is made.
#[derive(Debug, Clone, Default)]
pub struct NewBuild {
    pub origin: Origin,
    pub target: String,
    pub name: String,
    pub wiring: Map<String, Value>,
}

impl Builds {
    /// Open the folder of files. What is too old is deleted soon, and from then on.
    ///
    /// # Errors
    /// The folder cannot be made, or the store fails.
    pub async fn open(
        data_dir: &Path,
        config: &BuildsConfig,
        store: Store,
        clock: Clock,
        space: Arc<Space>,
    ) -> Result<Arc<Self>, BuildError> {
        let dir = data_dir.join(base::folder::BLOBS);
        let blobs = Blobs::open(dir.clone(), space);
        let builds = Self {
            blobs: Arc::new(blobs.map_err(|source| BuildError::Blob { path: dir, source })?),
            config: config.clone(),
            store,
            clock,
        };
        let builds = Arc::new(builds);
        tokio::spawn(tidy::keep(Arc::downgrade(&builds)));
        Ok(builds)
    }

    /// Where request bodies are written.
    #[must_use]
    pub fn blobs(&self) -> &Arc<Blobs> {
        &self.blobs
    }

    /// Time for a file to arrive.
    #[must_use]
    pub fn upload_wait(&self) -> Duration {
        Duration::from_millis(self.config.upload_wait_ms)
    }

    /// Add a build of an organisation, reported by `user`.
    ///
    /// # Errors
    /// There are too many open ones, or the storage failed.
    pub async fn create(&self, org: &str, user: &str, new: NewBuild) -> Result<Build, BuildError> {
        let build = Build {
            id: id::ulid(&self.clock),
            org: org.to_owned(),
            user: user.to_owned(),
            origin: new.origin,
            target: new.target,
            name: new.name,
            wiring: new.wiring,
            status: Status::Open,
            reason: String::new(),
            files: Vec::new(),
            created_ms: self.clock.now_ms(),
            finished_ms: None,
        };
        let count_max = self.config.count_max as usize;
        if !self.store.build_add(build.clone(), count_max).await? {
            return Err(BuildError::Full {
                what: "builds of the organisation without a result",
                max: self.config.count_max.into(),
            });
        }
        info!(build = build.id, repo = build.origin.repo, "build reported");
        Ok(build)
    }

    /// How many bytes the next file of this kind may have.
    ///
    /// # Errors
    /// The build is full, or the storage failed.
    pub async fn room(&self, org: &str, id: &str, kind: Kind) -> Result<u64, BuildError> {
        let (org_id, id) = (org.to_owned(), id.to_owned());
        let read = self.store.read(move |s| {
            let build = builds::by_id(s, &org_id, &id)?;
            Ok::<_, StoreError>((build, builds::bytes_of(s, &org_id)?))
        });
        let (build, used) = read.await?;
        let build = build.ok_or(BuildError::NotFound)?;
        self.limits().check(&build, kind, used)
    }

    /// Add a staged file to the build. Adding the same file under the same name changes nothing.
    ///
    /// # Errors
    /// The name is bad or taken, the build is full, or the storage failed.
    pub async fn attach(
        &self,
        org: &str,
        id: &str,
        kind: Kind,
        name: &str,
        content_type: &str,
        staged: &Staged,
    ) -> Result<Artifact, BuildError> {
        check_name(name)?;
        let file = File {
            kind,
            name: name.to_owned(),
            content_type: content_type.to_owned(),
            size_bytes: staged.size_bytes(),
            sha256: staged.sha256().to_owned(),
            created_ms: self.clock.now_ms(),
        };
        let limits = self.limits();
        let turn = self.blobs.turn().await;
        let kept = self.blobs.keep(&turn, staged);
        kept.map_err(|source| BuildError::Blob {
            path: self.blobs.path(staged.sha256()),
            source,
        })?;
        let new = file.clone();
        let attach = move |build: &mut Build, used: u64| limits.attach(build, used, &new);
        let changed = self.store.build_change(org, id, attach).await?;
        drop(turn);
        let build = changed.ok_or(BuildError::NotFound)??;
        let pack = REPORTED.to_owned();
        Ok(Artifact { build, pack, file })
    }

    /// Give a build its result. The same result again changes nothing but the wiring.
    ///
    /// # Errors
    /// It already has another result, there is no such build, or the storage failed.
    pub async fn finish(
        &self,
        org: &str,
        id: &str,
        success: bool,
        reason: String,
        wiring: Map<String, Value>,
    ) -> Result<Build, BuildError> {
        let now_ms = self.clock.now_ms();
        let status = if success {
            Status::Success
        } else {
            Status::Failure
        };
        let finish = move |build: &mut Build, _: u64| {
            if build.status != Status::Open && build.status != status {
                return Err(BuildError::Finished);
            }
            build.status = status;
            build.reason.clone_from(&reason);
            build.wiring.extend(wiring.clone());
            build.finished_ms.get_or_insert(now_ms);
            Ok(build.clone())
        };
        let changed = self.store.build_change(org, id, finish).await?;
        let build = changed.ok_or(BuildError::NotFound)??;
        info!(build = id, success, "build finished");
        Ok(build)
    }

    /// An artifact by build, pack and name.
    ///
    /// # Errors
    /// There is none, or the storage failed.
    pub async fn artifact(
        &self,
        org: &str,
        id: &str,
        pack: &str,
        name: &str,
    ) -> Result<Artifact, BuildError> {
        let (org, id) = (org.to_owned(), id.to_owned());
        let made = self.store.read(move |s| Made::by_id(s, &org, &id)).await?;
        let made = made.ok_or(BuildError::NotFound)?;
        let mut found = made.artifacts(|id, _| id == pack).into_iter();
        found
            .find(|artifact| artifact.file.name == name)
            .ok_or(BuildError::NotFound)
    }

    /// The one artifact that fits a selector.
    ///
    /// # Errors
    /// None fits or several do, or the storage failed.
    pub async fn select(&self, org: &str, selector: Selector) -> Result<Artifact, BuildError> {
        let org = org.to_owned();
        self.store.read(move |s| selector.find(s, &org)).await
    }

    /// Artifacts that can be flashed, newest build first, at most `limit`; without those for other chips than
    /// `target`, as far as both are known.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn flashable(
        &self,
        org: &str,
        target: Option<String>,
        limit: usize,
    ) -> Result<Vec<Artifact>, BuildError> {
        let org = org.to_owned();
        let read = self.store.read(move |s| {
            let mut fitting = Fitting::new(target.as_deref());
            let mut flashable = |made: &Made| {
                let mut found = made.artifacts(|_, targets| fitting.fits(targets));
                found.retain(|artifact| Format::of(&artifact.file.name) != Format::Other);
                found
            };
            let go_on = |count: usize| match count < limit {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            };
            let mut found = Vec::new();
            builds::newest_first(s, &org, |build| {
                found.extend(flashable(&Made::reported(build)));
                go_on(found.len())
            })?;
            let mut of_jobs = Vec::new();
            let mut seen = 0;
            jobs::newest_first(s, &org, None, |job| {
                if let Some(job) = job.job() {
                    of_jobs.extend(flashable(&Made::by_job(job)));
                }
                seen += 1;
                match seen < JOBS_SEEN_MAX {
                    true => go_on(of_jobs.len()),
                    false => ControlFlow::Break(()),
                }
            })?;
            found.extend(of_jobs);
            // Ids sort by time. The order within a build stays.
            found.sort_by(|a, b| b.build.id.cmp(&a.build.id));
            found.truncate(limit);
            Ok::<_, StoreError>(found)
        });
        Ok(read.await?)
    }

    /// Stream an artifact's bytes.
    ///
    /// # Errors
    /// They are no longer there, or cannot be read.
    pub async fn read(&self, artifact: &Artifact) -> Result<FileParts, BuildError> {
        let sha256 = &artifact.file.sha256;
        let opened = self.blobs.read(sha256).await;
        opened.map_err(|source| match source.kind() {
            // Its build was deleted meanwhile.
            ErrorKind::NotFound => BuildError::NotFound,
            _ => BuildError::Blob {
                path: self.blobs.path(sha256),
                source,
            },
        })
    }

    /// Delete builds that are too old, and every file that nothing refers to.
    ///
    /// # Errors
    /// The storage failed.
    pub(crate) async fn tidy(&self) -> Result<(), BuildError> {
        let keep_ms = u64::from(self.config.keep_days) * 24 * 3_600_000;
        let before_ms = self.clock.now_ms().saturating_sub(keep_ms);
        let count = self.store.builds_forget(before_ms).await?;
        if count > 0 {
            info!(count, "old builds forgotten");
        }
        let turn = self.blobs.turn().await;
        let wanted = self.store.read(store::blobs::wanted).await?;
        if let Err(error) = self.blobs.sweep(&turn, &wanted) {
            warn!(%error, "failed to remove files that nothing refers to");
        }
        Ok(())
    }

    fn limits(&self) -> Limits {
        Limits {
            artifact_bytes_max: u64::from(self.config.artifact_mib_max) << 20,
            log_bytes_max: u64::from(self.config.log_mib_max) << 20,
            quota_bytes: u64::from(self.config.quota_mib) << 20,
            quota_mib: self.config.quota_mib.into(),
        }
    }
}

/// A relative path that stays inside its folder, on any system.
fn check_name(name: &str) -> Result<(), BuildError> {
    let part = |part: &str| !matches!(part, "" | "." | "..");
    let plain = |c: char| !c.is_control() && !matches!(c, '\\' | '"' | ':');
    if (1..=NAME_CHARS_MAX).contains(&name.chars().count())
        && name.split('/').all(part)
        && name.chars().all(plain)
    {
        return Ok(());
    }
    Err(BuildError::Invalid {
        field: "name",
        message: format!(
            "must be a relative path of 1 to {NAME_CHARS_MAX} characters without . and .. parts, control characters, backslash, colon and quote"
        ),
    })
}

#[cfg(test)]
mod of_jobs;
#[cfg(test)]
mod tests;
