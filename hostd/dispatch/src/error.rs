//! Why a job is not taken, or something about one cannot be told.

use std::io;
use std::path::PathBuf;

use archive::ArchiveError;
use pipeline::Problem;
use scheduler::Refused;
use store::StoreError;

/// Why the service does not start.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// A folder.
    #[error("use the folder {}", .0.display())]
    Folder(PathBuf, #[source] io::Error),
    /// What makes jails could not be started.
    #[error(transparent)]
    Runner(#[from] jobs::OpenError),
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a request about jobs fails.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// There is no such job, or no such part of it.
    #[error("there is no such job")]
    NotFound,
    /// It has ended.
    #[error("the job has ended")]
    Finished,
    /// It has not ended.
    #[error("the job has not ended")]
    Unfinished,
    /// The pipeline has errors: all of them.
    #[error("the pipeline has {} errors", .0.len())]
    Definition(Vec<Problem>),
    /// The archive is not taken.
    #[error(transparent)]
    Archive(ArchiveError),
    /// A member of the request.
    #[error("{field}: {message}")]
    Invalid {
        /// Its name.
        field: &'static str,
        /// A fragment that follows it: `must be …`.
        message: String,
    },
    /// The idempotency key was used for another request.
    #[error("the key was used for another request")]
    KeyReused,
    /// Too many jobs wait.
    #[error("{0}")]
    Full(String),
    /// The organisation's jobs keep as many bytes as they may.
    #[error("{0}")]
    Quota(String),
    /// This machine cannot isolate jobs.
    #[error("{0}")]
    NoIsolation(String),
    /// The server is about to stop.
    #[error("the server is about to stop")]
    Stopping,
    /// A file of a job.
    #[error("use {}", .0.display())]
    Files(PathBuf, #[source] io::Error),
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<Refused> for JobError {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Draining => Self::Stopping,
            Refused::Tasks { count, max } => Self::Invalid {
                field: "definition",
                message: format!("comes to {count} runs, 1 to {max} are possible"),
            },
            refused => Self::Full(format!(
                "failed to {refused}; submit again when some have ended"
            )),
        }
    }
}

impl JobError {
    /// A word for those who count refusals.
    pub(crate) fn reason(&self) -> &'static str {
        match self {
            Self::NotFound | Self::Finished | Self::Unfinished => "state",
            Self::Definition(_) => "definition",
            Self::Archive(_) => "archive",
            Self::Invalid { .. } => "invalid",
            Self::KeyReused => "key_reused",
            Self::Full(_) => "full",
            Self::Quota(_) => "quota",
            Self::NoIsolation(_) => "no_isolation",
            Self::Stopping => "stopping",
            Self::Files(..) | Self::Store(_) => "internal",
        }
    }

    /// An error of files below `path`.
    pub(crate) fn files(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |error| Self::Files(path, error)
    }
}
