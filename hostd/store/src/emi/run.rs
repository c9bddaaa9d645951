//! The record of a run: what was asked of a board, how that stands, and what came of it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::File;

/// What a run does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Read the board, and look through it by all rules.
    Ingest,
    /// Compare what declared clocks radiate with limits.
    Compliance,
    /// What cables may carry.
    Cable,
    /// A field solver, in a program of its own.
    Solve,
}

/// How a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It waits.
    New,
    /// It waits once more.
    RetryPending,
    InProgress,
    /// It ends soon, since somebody said so.
    Stopping,
    Done,
    Failed,
    TimedOut,
}

/// How far a run is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// Stable word; empty before it begins.
    pub stage: String,
    /// 0 to 100.
    pub pct: u8,
    /// For people.
    pub message: String,
}

/// Why a run failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Stable word.
    pub code: String,
    /// A sentence that says what to do.
    pub message: String,
}

/// A file that a run made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artifact {
    /// Relative path, `/` between its parts; unique in its run.
    pub name: String,
    pub content_type: String,
    pub file: File,
    pub created_ms: u64,
}

/// A run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// ULID.
    pub id: String,
    pub org: String,
    pub project: String,
    pub board: String,
    pub kind: Kind,
    pub status: Status,
    /// What was asked, with keys of `emi.rules.yaml`.
    pub params: Map<String, Value>,
    /// How often it was begun since somebody asked for it.
    pub attempts: u32,
    pub progress: Progress,
    /// What it says in short; none until it is done.
    pub summary: Option<Map<String, Value>>,
    pub error: Option<Failure>,
    pub artifacts: Vec<Artifact>,
    /// Id of the user whose credential asked for it.
    pub created_by: String,
    pub created_ms: u64,
    /// Of the last attempt.
    pub started_ms: Option<u64>,
    pub finished_ms: Option<u64>,
    pub updated_ms: u64,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Ingest, Self::Compliance, Self::Cable, Self::Solve];

    /// Its stable word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ingest => "ingest",
            Self::Compliance => "compliance",
            Self::Cable => "cable",
            Self::Solve => "solve",
        }
    }

    /// The kind with that word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == word)
    }
}

impl Status {
    /// Its stable word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::RetryPending => "retry_pending",
            Self::InProgress => "in_progress",
            Self::Stopping => "stopping",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::TimedOut => "timed_out",
        }
    }

    /// Whether nothing changes any more, unless somebody asks for it again.
    #[must_use]
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Done | Self::Failed | Self::TimedOut)
    }

    /// Whether it waits for its turn.
    #[must_use]
    pub const fn waits(self) -> bool {
        matches!(self, Self::New | Self::RetryPending)
    }
}
