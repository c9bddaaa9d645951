//! Why the store could not do something. Clonable, because one failed commit answers many writers.

use std::path::PathBuf;
use std::sync::Arc;

use base::space;

use super::schema::SCHEMA_VERSION;
use super::writer::{QUEUE_MAX, QUEUE_WAIT_MS};

/// A failure of the storage itself. What a caller did wrong (not found, taken, conflict) is in the
/// error type of the table.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    #[error("open {}: another hostd is using it; stop that one first", path.display())]
    Locked { path: PathBuf },
    #[error("open {}", path.display())]
    Open {
        path: PathBuf,
        #[source]
        source: Arc<redb::Error>,
    },
    #[error("open {}", path.display())]
    OpenFile {
        path: PathBuf,
        #[source]
        source: Arc<std::io::Error>,
    },
    #[error(
        "open the store: its schema version {found} is newer than {SCHEMA_VERSION}, the newest that this program knows; use the newer hostd"
    )]
    NewerSchema { found: u32 },
    #[error(
        "open {}: the database is damaged ({what}). It was left as it is: keep a copy of it and restore a backup (hostd restore); hostd check tells what else is wrong. Where no server has ever run, remove the file",
        path.display()
    )]
    Damaged { path: PathBuf, what: String },
    #[error("read the store: the file is damaged; restore it from a backup")]
    Corrupt {
        #[source]
        source: Arc<redb::Error>,
    },
    #[error("write the store: the disk is full")]
    Full {
        #[source]
        source: Arc<std::io::Error>,
    },
    #[error("use the store")]
    Storage {
        #[source]
        source: Arc<redb::Error>,
    },
    #[error("read record {key} of table {table}")]
    Record {
        table: &'static str,
        key: String,
        #[source]
        source: Arc<serde_json::Error>,
    },
    #[error("start the store's writer thread")]
    Thread {
        #[source]
        source: Arc<std::io::Error>,
    },
    #[error("write the store: {QUEUE_MAX} writes were waiting for over {QUEUE_WAIT_MS} ms")]
    Overloaded,
    #[error("use the store: it is closed")]
    Closed,
    #[error("use the store: the operation panicked")]
    Panicked,
}

impl StoreError {
    /// Classify a redb error by what an operator can do about it.
    pub(super) fn from_redb(error: impl Into<redb::Error>) -> Self {
        match error.into() {
            redb::Error::Io(error) if space::is_full_kind(error.kind()) => Self::Full {
                source: Arc::new(error),
            },
            redb::Error::DatabaseClosed => Self::Closed,
            error @ redb::Error::Corrupted(_) => Self::Corrupt {
                source: Arc::new(error),
            },
            error => Self::Storage {
                source: Arc::new(error),
            },
        }
    }

    /// Whether the database must be reopened before it can be used again.
    pub(super) fn poisons(&self) -> bool {
        matches!(
            self,
            Self::Corrupt { .. } | Self::Full { .. } | Self::Storage { .. }
        )
    }
}
