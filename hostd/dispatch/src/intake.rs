//! Taking a job in: its pipeline read, its archive judged and unpacked, its folder made. Nothing is queued yet, and
//! whatever is refused leaves nothing behind.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use archive::{ArchiveError, Limits, UnpackError};
use base::private;
use base::space::Space;
use jobs::ImageOptions;
use lab::blobs::{Blobs, Staged};
use pipeline::plan::Plan;
use pipeline::{Caps, Code, Pipeline};
use sha2::{Digest, Sha256};
use store::jobs::{Archive, Job, Request, RequestKey, TEXT_CHARS_MAX};
use vault::{Refusal, Vault};

use crate::driver::Arrival;
use crate::error::JobError;
use crate::files::{Files, gone};
use crate::network::Network;
use crate::record::{self, Entry};
use crate::service::Submitter;
use crate::submission;

/// What a job is made of.
#[derive(Debug)]
pub enum Source {
    /// The text of a pipeline that needs no files.
    Definition(String),
    /// An archive of sources, and the path of the pipeline in it.
    Archive(Staged, String),
    /// What another job was made of, whose archive is a blob.
    Again(Box<Job>),
}

/// A job as it is submitted.
#[derive(Debug)]
pub struct NewJob {
    /// What it is called; the pipeline's own name if left out.
    pub name: Option<String>,
    /// Branch or tag.
    pub r#ref: Option<String>,
    /// Commit.
    pub commit: Option<String>,
    /// The same key and request again make no second job.
    pub idempotency_key: Option<String>,
    /// What it is made of.
    pub source: Source,
}

/// What taking jobs in needs. Blocks the thread it is used on.
#[derive(Debug, Clone)]
pub(crate) struct Intake {
    pub(crate) files: Files,
    pub(crate) caps: Caps,
    pub(crate) limits: Limits,
    pub(crate) images: ImageOptions,
    pub(crate) blobs: Arc<Blobs>,
    pub(crate) space: Arc<Space>,
    pub(crate) vault: Arc<Vault>,
    pub(crate) network: Network,
}

/// The sources of a job that may be unpacked.
struct Sources {
    path: PathBuf,
    archive: Archive,
}

impl Intake {
    /// Reads and checks everything, and makes the job's folder.
    pub(crate) fn take(
        &self,
        by: &Submitter,
        new: NewJob,
        id: &str,
        now_ms: u64,
    ) -> Result<Arrival, JobError> {
        check_texts(&new)?;
        let (definition, sources) = self.open(&new.source)?;
        let pipeline = self.read(&definition)?;
        let may = self
            .check_secrets(&pipeline, &definition, by, new.r#ref.as_deref())
            .and_then(|()| self.check_images(&pipeline, &definition))
            .and_then(|()| self.check_network(&pipeline, &definition, by));
        let objection = match may {
            // The request may be a repetition, and its answer that of the first one, whatever has changed since.
            Err(error) if new.idempotency_key.is_some() => Some(error),
            may => {
                may?;
                None
            }
        };
        let plan = pipeline::expand(&pipeline, &self.caps);
        let request = new.idempotency_key.as_deref().map(|key| {
            let key = RequestKey {
                org: by.org.clone(),
                user: by.user.clone(),
                key: hex::encode(Sha256::digest(key)),
            };
            let request = Request {
                job: id.to_owned(),
                digest: digest(&new, &definition, sources.as_ref()),
                at_ms: now_ms,
            };
            (key, request)
        });
        let made = self.make_folder(id, &definition, sources.as_ref());
        if let Err(error) = made {
            // The error tells more than a folder that stays until the next start.
            let _ = self.files.remove(id);
            return Err(error);
        }
        let archive = sources.map(|sources| sources.archive);
        let (retry_of, staged) = match new.source {
            Source::Definition(_) => (None, None),
            Source::Archive(staged, _) => (None, Some(staged)),
            Source::Again(job) => (Some(job.id), None),
        };
        let submission = submission::of(by, id, &plan);
        let job = Job {
            id: id.to_owned(),
            org: by.org.clone(),
            user: by.user.clone(),
            name: new.name.or_else(|| plan.name.clone()),
            r#ref: new.r#ref,
            commit: new.commit,
            retry_of,
            archive,
            axes: record::axes_value(scheduler::Axes::default()),
            other_bytes: definition.len() as u64,
            queue: None,
            end: None,
            runs: record::runs(&plan),
            attempts: Vec::new(),
            created_ms: now_ms,
            started_ms: None,
            finished_ms: None,
        };
        Ok(Arrival {
            entry: Entry {
                job: Arc::new(job),
                plan: Arc::new(plan),
                told: None,
            },
            submission,
            request,
            objection,
            archive: staged,
        })
    }

    /// What a pipeline comes to that was taken in before.
    pub(crate) fn plan(&self, definition: &str) -> Result<Plan, JobError> {
        let pipeline = self.read(definition)?;
        Ok(pipeline::expand(&pipeline, &self.caps))
    }

    fn read(&self, definition: &str) -> Result<Pipeline, JobError> {
        pipeline::parse(definition, &self.caps)
            .map_err(|report| JobError::Definition(report.problems))
    }

    /// What can be told before the job waits for a device: an attempt looks again.
    fn check_secrets(
        &self,
        pipeline: &Pipeline,
        definition: &str,
        by: &Submitter,
        reference: Option<&str>,
    ) -> Result<(), JobError> {
        let names = pipeline.secrets();
        if names.is_empty() {
            return Ok(());
        }
        let refused = self.vault.refused(&by.org, &names, reference)?;
        let why = |name: &str| {
            let told = match refused.get(name)? {
                Refusal::Unknown => (
                    Code::UnknownSecret,
                    format!(
                        "the organisation has no secret `{name}`: an administrator sets it, or correct the name"
                    ),
                ),
                Refusal::Refused => (
                    Code::SecretRefused,
                    match reference {
                        Some(of) => format!(
                            "the secret `{name}` is not for jobs of the ref `{of}`: an administrator says for which"
                        ),
                        None => format!(
                            "the secret `{name}` is for jobs of certain refs alone: submit with `ref`"
                        ),
                    },
                ),
            };
            Some(told)
        };
        pipeline
            .check_secrets(definition, why)
            .map_err(|report| JobError::Definition(report.problems))
    }

    /// Whether images may be had at all, which depends on nothing that a job can wait for. Whether one is there, an
    /// attempt looks.
    fn check_images(&self, pipeline: &Pipeline, definition: &str) -> Result<(), JobError> {
        let why = |name: &str| Some((Code::ImageRefused, self.images.refusal(name)?));
        pipeline
            .check_images(definition, why)
            .map_err(|report| JobError::Definition(report.problems))
    }

    /// An attempt looks again.
    fn check_network(
        &self,
        pipeline: &Pipeline,
        definition: &str,
        by: &Submitter,
    ) -> Result<(), JobError> {
        if !pipeline.asks_for_network() {
            return Ok(());
        }
        let refused = |why| pipeline.refuse_network(definition, why);
        let reach = self.network.reach(&by.org);
        reach
            .map(drop)
            .map_err(|why| JobError::Definition(refused(why).problems))
    }

    fn open(&self, source: &Source) -> Result<(String, Option<Sources>), JobError> {
        match source {
            Source::Definition(text) => Ok((text.clone(), None)),
            Source::Archive(staged, path) => {
                let (text, archive) = self.inspect(staged, path)?;
                let sources = Sources {
                    path: staged.path().to_owned(),
                    archive,
                };
                Ok((text, Some(sources)))
            }
            Source::Again(job) => {
                let text = self.files.definition(&job.id);
                let text = text.map_err(JobError::files(self.files.job(&job.id)))?;
                let sources = job.archive.clone().map(|archive| Sources {
                    path: self.blobs.path(&archive.sha256),
                    archive,
                });
                Ok((text, sources))
            }
        }
    }

    fn inspect(&self, staged: &Staged, path: &str) -> Result<(String, Archive), JobError> {
        if path.starts_with('/') || path.split('/').any(|part| part == "..") {
            return Err(JobError::Invalid {
                field: "ci_yaml",
                message: "must be a path below the archive's folder, without ..".to_owned(),
            });
        }
        let file = File::open(staged.path()).map_err(JobError::files(staged.path()))?;
        let inspected = archive::inspect(file, &self.limits, Some(path)).map_err(refused)?;
        let Some(text) = inspected.text else {
            return Err(JobError::Invalid {
                field: "ci_yaml",
                message: format!("must be the path of a file in the archive; there is no {path}"),
            });
        };
        let archive = Archive {
            sha256: staged.sha256().to_owned(),
            size_bytes: staged.size_bytes(),
            entries: inspected.entries as u64,
            unpacked_bytes: inspected.bytes,
            definition: path.to_owned(),
        };
        Ok((text, archive))
    }

    fn make_folder(
        &self,
        id: &str,
        definition: &str,
        sources: Option<&Sources>,
    ) -> Result<(), JobError> {
        let folder = self.files.job(id);
        let bytes = sources.map_or(0, |sources| sources.archive.unpacked_bytes);
        self.space
            .admit(bytes + definition.len() as u64)
            .map_err(JobError::files(&folder))?;
        self.files
            .begin(id, definition)
            .map_err(JobError::files(&folder))?;
        let Some(sources) = sources else {
            return Ok(());
        };
        let file = File::open(&sources.path).map_err(JobError::files(&sources.path))?;
        self.unpack(file, &self.files.source(id))
    }

    /// Unpacks the sources of a queued job again if they are gone, as after a restore from a backup.
    pub(crate) fn mend_sources(&self, job: &Job) -> Result<(), JobError> {
        let (to, work) = (self.files.source(&job.id), self.files.unpacking(&job.id));
        if to.exists() {
            return Ok(());
        }
        gone(fs::remove_dir_all(&work)).map_err(JobError::files(&work))?;
        private::make_folder(&work).map_err(JobError::files(&work))?;
        if let Some(archive) = &job.archive {
            let path = self.blobs.path(&archive.sha256);
            let file = File::open(&path).map_err(JobError::files(&path))?;
            self.unpack(file, &work)?;
        }
        fs::rename(&work, &to).map_err(JobError::files(to))
    }

    fn unpack(&self, file: File, to: &Path) -> Result<(), JobError> {
        let folder = File::open(to).map_err(JobError::files(to))?;
        match archive::unpack(file, &self.limits, folder.into()) {
            Ok(_) => Ok(()),
            Err(UnpackError::Archive(error)) => Err(refused(error)),
            Err(error @ (UnpackError::DiskFull | UnpackError::Quota)) => Err(JobError::Files(
                to.to_owned(),
                io::Error::new(io::ErrorKind::StorageFull, error),
            )),
            Err(error) => Err(JobError::Files(to.to_owned(), io::Error::other(error))),
        }
    }
}

fn refused(error: ArchiveError) -> JobError {
    JobError::Archive(error)
}

fn check_texts(new: &NewJob) -> Result<(), JobError> {
    let texts = [
        ("name", &new.name),
        ("ref", &new.r#ref),
        ("commit", &new.commit),
    ];
    for (field, text) in texts {
        let Some(text) = text else { continue };
        let is_fit = (1..=TEXT_CHARS_MAX).contains(&text.chars().count())
            && !text.chars().any(char::is_control);
        if !is_fit {
            return Err(JobError::Invalid {
                field,
                message: format!(
                    "must have 1 to {TEXT_CHARS_MAX} characters, none of them a control character"
                ),
            });
        }
    }
    Ok(())
}

/// What tells a request from another one.
fn digest(new: &NewJob, definition: &str, sources: Option<&Sources>) -> String {
    let mut digest = Sha256::new();
    let path = sources.map(|sources| sources.archive.definition.as_str());
    let archive = sources.map(|sources| sources.archive.sha256.as_str());
    let parts = [
        new.name.as_deref(),
        new.r#ref.as_deref(),
        new.commit.as_deref(),
        archive,
        path,
    ];
    for part in parts.into_iter().chain([Some(definition)]) {
        let len = part.map_or(u64::MAX, |part| part.len() as u64);
        digest.update(len.to_le_bytes());
        digest.update(part.unwrap_or_default());
    }
    hex::encode(digest.finalize())
}
