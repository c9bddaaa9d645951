//! What carries out a run: the seam to the process that computes.

use std::io::PipeReader;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use store::emi::boards::Facts;
use store::emi::runs::{Failure, Kind, Progress};

/// What is to be done.
#[derive(Debug, Clone)]
pub struct Work {
    /// What to do.
    pub kind: Kind,
    /// What was asked, with keys of `emi.rules.yaml`.
    pub params: Map<String, Value>,
    /// The board's bytes.
    pub file: PathBuf,
    /// What their file was called.
    pub filename: String,
}

/// A file that a run made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Made {
    /// Relative path.
    pub name: String,
    /// Media type.
    pub content_type: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// What is told while a run is under way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// How far it is.
    Progress(Progress),
    /// A file is whole.
    Made(Made),
}

/// What a run that is done says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Product {
    /// In short.
    pub summary: Map<String, Value>,
    /// What was read of the board, if that was asked.
    pub facts: Option<Facts>,
}

/// Why a run did not come to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unfinished {
    /// Somebody said so, or what it made is not wanted.
    Stopped,
    /// It took too long; the limit in seconds.
    TimedOut(u64),
    /// It failed.
    Failed(Failure),
}

/// What was told is not wanted: nothing more is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unwanted;

/// Carries out runs.
pub trait Runner: Send + Sync + std::fmt::Debug {
    /// The kinds of runs that it carries out.
    fn kinds(&self) -> Vec<Kind>;

    /// Carries one out; blocks the thread, which is one of its own. `tell` gets what happens. It ends soon after the other
    /// end of `stopped` was dropped.
    ///
    /// # Errors
    /// Why it did not come to its end.
    fn run(
        &self,
        work: &Work,
        tell: &mut dyn FnMut(Event) -> Result<(), Unwanted>,
        stopped: &PipeReader,
    ) -> Result<Product, Unfinished>;
}

impl Unfinished {
    pub(crate) fn failed(code: &str, message: impl Into<String>) -> Self {
        Self::Failed(failure(code, message))
    }
}

pub(crate) fn failure(code: &str, message: impl Into<String>) -> Failure {
    Failure {
        code: code.to_owned(),
        message: message.into(),
    }
}
