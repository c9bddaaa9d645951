//! Taking a job in: its pipeline read, its archive judged and unpacked, its folder made. Nothing is queued yet, and
//! whatever is refused leaves nothing behind.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use admission::{Held, Memory};
use archive::{ArchiveError, Limits, Room, UnpackError};
use base::private;
use base::space::Space;
use jobs::ImageOptions;
use lab::blobs::{Blobs, Staged};
use pipeline::plan::{Plan, Role};
use pipeline::{Caps, Code, Pipeline};
use scheduler::{Stored, Submission};
use serde::Serialize;
use sha2::{Digest, Sha256};
use store::jobs::{Archive, Job, Request, RequestKey, Run, TEXT_CHARS_MAX};
use vault::{Refusal, Vault};

use crate::checked::{Checked, CheckedRun};
use crate::driver::Arrival;
use crate::error::JobError;
use crate::facts::Wants;
use crate::files::{Files, gone};
use crate::network::Network;
use crate::record::{self, Entry};
use crate::service::Submitter;
use crate::submission;

/// Bytes of memory that reading a pipeline takes for each of its bytes.
const READING_FACTOR: u64 = 48;

/// Bytes of a pipeline that is read in a moment.
const SMALL_BYTES: usize = 16 << 10;

/// Bytes as JSON of what is stored of a job when it is queued.
const RECORD_BYTES_MAX: u64 = 1 << 20;

/// Bytes of memory that a job takes besides what is stored of it.
const JOB_BYTES: u64 = 4 << 10;

/// Bytes that the record of a job has of a file that a run makes, besides its name.
const FILE_BYTES: usize = 128;

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

impl NewJob {
    /// Whether it is read in a moment.
    pub(crate) fn is_small(&self) -> bool {
        matches!(&self.source, Source::Definition(text) if is_read_in_a_moment(text))
    }
}

/// Whether a pipeline is.
pub(crate) fn is_read_in_a_moment(definition: &str) -> bool {
    definition.len() <= SMALL_BYTES
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
    /// Shared by all that callers can make large.
    pub(crate) memory: Arc<Memory>,
}

/// The sources of a job that may be unpacked.
struct Sources {
    path: PathBuf,
    archive: Archive,
}

impl Intake {
    /// Whether the submitter may have all that the pipeline asks for.
    fn check(
        &self,
        pipeline: &Pipeline,
        definition: &str,
        by: &Submitter,
        reference: Option<&str>,
    ) -> Result<(), JobError> {
        self.check_secrets(pipeline, definition, by, reference)?;
        self.check_images(pipeline, definition)?;
        self.check_network(pipeline, definition, by)?;
        check_chips(pipeline, definition)
    }

    /// Reads and checks everything, and makes the job's folder.
    pub(crate) fn take(
        &self,
        by: &Submitter,
        new: NewJob,
        id: &str,
        now_ms: u64,
    ) -> Result<Arrival, JobError> {
        check_texts(&new)?;
        let (definition, sources) = self.open(by, &new.source)?;
        let reading = self.reading(by, &definition)?;
        let pipeline = self.read(&definition)?;
        let may = self.check(&pipeline, &definition, by, new.r#ref.as_deref());
        let objection = match may {
            // The request may be a repetition, and its answer that of the first one, whatever has changed since.
            Err(error) if new.idempotency_key.is_some() => Some(error),
            may => {
                may?;
                None
            }
        };
        let plan = pipeline::outline(&pipeline, &self.caps);
        drop((pipeline, reading));
        let request = new.idempotency_key.as_deref().map(|key| {
            let request = Request {
                job: id.to_owned(),
                digest: digest(&new, &definition, sources.as_ref()),
                at_ms: now_ms,
            };
            (key_of(by, key), request)
        });
        let submission = submission::of(by, id, &plan);
        let runs = record::runs(&plan);
        let held = self.hold(by, &submission, &runs, &plan)?;
        let made = self.make_folder(by, id, &definition, sources.as_ref());
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
            memory_bytes: held.bytes(),
            queue: None,
            end: None,
            runs,
            attempts: Vec::new(),
            created_ms: now_ms,
            started_ms: None,
            finished_ms: None,
        };
        Ok(Arrival {
            entry: Entry::new(job, submission::job_ms(&submission), held, None),
            submission,
            request,
            objection,
            archive: staged,
        })
    }

    /// What a pipeline comes to, checked as [`take`](Self::take) does as that of the job `id`, and what each run asks of a
    /// device. Nothing is made or kept.
    pub(crate) fn look(
        &self,
        by: &Submitter,
        definition: &str,
        reference: Option<&str>,
        id: &str,
    ) -> Result<(Checked, Vec<Option<Wants>>), JobError> {
        check_text("ref", reference)?;
        let reading = self.reading(by, definition)?;
        let pipeline = self.read(definition)?;
        self.check(&pipeline, definition, by, reference)?;
        let plan = pipeline::outline(&pipeline, &self.caps);
        let secrets = pipeline.secrets().into_iter().map(str::to_owned).collect();
        drop((pipeline, reading));
        let runs = record::runs(&plan);
        drop(self.hold(by, &submission::of(by, id, &plan), &runs, &plan)?);
        let asked = |run: &pipeline::plan::Run| match &run.role {
            Role::Build { .. } => None,
            Role::Bench { device, .. } => Some(Wants(device.clone())),
        };
        let wanted: Vec<Option<Wants>> = plan.runs.iter().map(asked).collect();
        let runs = runs
            .into_iter()
            .zip(&wanted)
            .map(|(run, wants)| CheckedRun {
                run,
                device: wants.as_ref().map(|Wants(asked)| asked.into()),
            });
        let checked = Checked {
            name: plan.name,
            runs: runs.collect(),
            secrets,
            warnings: Vec::new(),
        };
        Ok((checked, wanted))
    }

    /// Memory to read a pipeline in.
    fn reading(&self, by: &Submitter, definition: &str) -> Result<Held, JobError> {
        let bytes = (definition.len() as u64).saturating_mul(READING_FACTOR);
        self.memory.take(&by.org, bytes).map_err(|_| scarce())
    }

    /// Memory for a job that waits and runs.
    fn hold(
        &self,
        by: &Submitter,
        submission: &Submission<Wants>,
        runs: &[Run],
        plan: &Plan,
    ) -> Result<Held, JobError> {
        let files = plan.runs.iter().map(|run| match &run.role {
            Role::Build { artifacts, .. } => {
                let bytes = artifacts.iter().map(|name| FILE_BYTES + name.len());
                bytes.sum::<usize>()
            }
            Role::Bench { .. } => 0,
        });
        let files: usize = files.sum();
        let bytes = json_bytes(submission) + json_bytes(&runs) + files as u64;
        if bytes > RECORD_BYTES_MAX {
            return Err(JobError::Invalid {
                field: "definition",
                message: format!(
                    "comes to {bytes} bytes of runs with what they need, {RECORD_BYTES_MAX} at most; split the pipeline"
                ),
            });
        }
        let held = self.memory.take(&by.org, memory_bytes(bytes));
        held.map_err(|_| scarce())
    }

    /// Memory for a job that waited or ran before the server was started: what it was taken in with, which has room for
    /// the files that its runs will make, or what there is of it by now if that is more.
    pub(crate) fn hold_again(&self, job: &Job, stored: &Stored<Wants>) -> Held {
        let bytes = json_bytes(stored) + json_bytes(&job.runs) + json_bytes(&job.attempts);
        let bytes = memory_bytes(bytes).max(job.memory_bytes);
        self.memory.note(&job.org, bytes)
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

    fn open(&self, by: &Submitter, source: &Source) -> Result<(String, Option<Sources>), JobError> {
        match source {
            Source::Definition(text) => Ok((text.clone(), None)),
            Source::Archive(staged, path) => {
                let (text, archive) = self.inspect(by, staged, path)?;
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

    fn inspect(
        &self,
        by: &Submitter,
        staged: &Staged,
        path: &str,
    ) -> Result<(String, Archive), JobError> {
        if path.starts_with('/') || path.split('/').any(|part| part == "..") {
            return Err(JobError::Invalid {
                field: "ci_yaml",
                message: "must be a path below the archive's folder, without ..".to_owned(),
            });
        }
        let file = File::open(staged.path()).map_err(JobError::files(staged.path()))?;
        let mut held = self.memory.note(&by.org, 0);
        let room: Room<'_> = &mut |bytes| held.grow(bytes).is_ok();
        let inspected = archive::inspect_within(file, &self.limits, Some(path), room);
        let inspected = inspected.map_err(refused)?;
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
        by: &Submitter,
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
        let mut held = self.memory.note(&by.org, 0);
        let room: Room<'_> = &mut |bytes| held.grow(bytes).is_ok();
        self.unpack(file, &self.files.source(id), room)
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
            let mut held = self.memory.note(&job.org, 0);
            let room: Room<'_> = &mut |bytes| {
                held.grow_anyway(bytes);
                true
            };
            self.unpack(file, &work, room)?;
        }
        fs::rename(&work, &to).map_err(JobError::files(to))
    }

    fn unpack(&self, file: File, to: &Path, room: Room<'_>) -> Result<(), JobError> {
        let folder = File::open(to).map_err(JobError::files(to))?;
        match archive::unpack_within(file, &self.limits, folder.into(), room) {
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

/// What a record takes in memory that has so many bytes as JSON.
fn memory_bytes(record: u64) -> u64 {
    record.saturating_mul(2).saturating_add(JOB_BYTES)
}

fn json_bytes(value: &impl Serialize) -> u64 {
    serde_json::to_vec(value).map_or(u64::MAX / 4, |text| text.len() as u64)
}

fn scarce() -> JobError {
    JobError::Full(
        "the jobs of the organisation take as much memory as they may (jobs.memory_mib); submit again when some have ended, or make the pipeline smaller and its files fewer".to_owned(),
    )
}

fn refused(error: ArchiveError) -> JobError {
    match error {
        ArchiveError::NoRoom => scarce(),
        other => JobError::Archive(other),
    }
}

/// Whether chips that are to be flashed are known.
fn check_chips(pipeline: &Pipeline, definition: &str) -> Result<(), JobError> {
    pipeline
        .check_chips(definition, lab::flashing::chip_refusal)
        .map_err(|report| JobError::Definition(report.problems))
}

/// The key of a request, which is its user's own.
fn key_of(by: &Submitter, key: &str) -> RequestKey {
    RequestKey {
        org: by.org.clone(),
        user: by.user.clone(),
        key: hex::encode(Sha256::digest(key)),
    }
}

fn check_texts(new: &NewJob) -> Result<(), JobError> {
    let texts = [
        ("name", &new.name),
        ("ref", &new.r#ref),
        ("commit", &new.commit),
    ];
    let mut texts = texts.into_iter();
    texts.try_for_each(|(field, text)| check_text(field, text.as_deref()))
}

fn check_text(field: &'static str, text: Option<&str>) -> Result<(), JobError> {
    let Some(text) = text else { return Ok(()) };
    let is_fit =
        (1..=TEXT_CHARS_MAX).contains(&text.chars().count()) && !text.chars().any(char::is_control);
    match is_fit {
        true => Ok(()),
        false => Err(JobError::Invalid {
            field,
            message: format!(
                "must have 1 to {TEXT_CHARS_MAX} characters, none of them a control character"
            ),
        }),
    }
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
