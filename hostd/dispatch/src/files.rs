//! Where the files of jobs are, below the data folder:
//!
//! ```text
//! jobs/<job>/definition            the pipeline's text
//! jobs/<job>/source/               its sources, until it is over
//! jobs/<job>/<attempt>/log, index  what the attempt wrote
//! jobs/<job>/<attempt>/artifacts/  what it made, until it has ended
//! jobs/<job>/<attempt>/cases       the cases that its tests wrote
//! jobs/<job>/<attempt>/end.json    how it ended, step by step
//! work/                            places of running attempts, and caches
//! ```

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use base::{folder, private};
use jobs::CASES_FILE;

/// The pipeline's text.
pub const DEFINITION: &str = "definition";
const SOURCE: &str = "source";
const LOG: &str = "log";
const INDEX: &str = "index";
const END: &str = "end.json";
const ARTIFACTS: &str = "artifacts";

/// What an attempt leaves in its folder.
pub const ATTEMPT_FILES: [&str; 4] = [LOG, INDEX, CASES_FILE, END];

/// Most bytes of a pipeline's text that are read back.
const DEFINITION_BYTES_MAX: u64 = 4 << 20;

/// The folders of jobs.
#[derive(Debug, Clone)]
pub(crate) struct Files {
    jobs: PathBuf,
    work: PathBuf,
}

impl Files {
    /// Below a data folder, whose path is made absolute: jails are told where their folders are.
    pub(crate) fn new(data: &Path) -> io::Result<Self> {
        let data = std::path::absolute(data)?;
        Ok(Self {
            jobs: data.join(folder::JOBS),
            work: data.join(folder::WORK),
        })
    }

    pub(crate) fn root(&self) -> &Path {
        &self.jobs
    }

    /// For places and caches.
    pub(crate) fn work(&self) -> &Path {
        &self.work
    }

    pub(crate) fn job(&self, job: &str) -> PathBuf {
        self.jobs.join(job)
    }

    pub(crate) fn source(&self, job: &str) -> PathBuf {
        self.job(job).join(SOURCE)
    }

    /// Where sources are unpacked again.
    pub(crate) fn unpacking(&self, job: &str) -> PathBuf {
        self.job(job).join("source.new")
    }

    pub(crate) fn attempt(&self, job: &str, number: u32) -> PathBuf {
        self.job(job).join(number.to_string())
    }

    pub(crate) fn log(&self, job: &str, number: u32) -> PathBuf {
        self.attempt(job, number).join(LOG)
    }

    pub(crate) fn index(&self, job: &str, number: u32) -> PathBuf {
        self.attempt(job, number).join(INDEX)
    }

    /// The cases that tests of an attempt wrote.
    pub(crate) fn cases(&self, job: &str, number: u32) -> PathBuf {
        self.attempt(job, number).join(CASES_FILE)
    }

    pub(crate) fn end(&self, job: &str, number: u32) -> PathBuf {
        self.attempt(job, number).join(END)
    }

    /// Where the runner puts what an attempt makes.
    pub(crate) fn artifacts(&self, job: &str, number: u32) -> PathBuf {
        self.attempt(job, number).join(ARTIFACTS)
    }

    pub(crate) fn drop_artifacts(&self, job: &str, number: u32) -> io::Result<()> {
        gone(fs::remove_dir_all(self.artifacts(job, number)))
    }

    /// Makes the folder of a new job, with its pipeline and an empty folder for its sources. Both are on disk when
    /// this returns.
    pub(crate) fn begin(&self, job: &str, definition: &str) -> io::Result<()> {
        private::make_folder(&self.source(job))?;
        let folder = self.job(job);
        let mut file = private::make_file(&folder.join(DEFINITION))?;
        file.write_all(definition.as_bytes())?;
        file.sync_all()?;
        File::open(&folder)?.sync_all()?;
        File::open(&self.jobs)?.sync_all()
    }

    /// Whether a job's pipeline is there.
    pub(crate) fn has_definition(&self, job: &str) -> bool {
        self.job(job).join(DEFINITION).is_file()
    }

    /// The text of a job's pipeline.
    pub(crate) fn definition(&self, job: &str) -> io::Result<String> {
        let path = self.job(job).join(DEFINITION);
        if path.metadata()?.len() > DEFINITION_BYTES_MAX {
            return Err(io::ErrorKind::InvalidData.into());
        }
        fs::read_to_string(path)
    }

    /// Removes the sources of a job that is over. What programs left there is removed as well.
    pub(crate) fn drop_source(&self, job: &str) -> io::Result<()> {
        gone(fs::remove_dir_all(self.source(job)))
    }

    /// Removes all files of a job.
    pub(crate) fn remove(&self, job: &str) -> io::Result<()> {
        gone(fs::remove_dir_all(self.job(job)))
    }
}

/// That it is gone already is well.
pub(crate) fn gone(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}
