//! What is known about runs and steps when they have ended.

use std::time::Duration;

use evidence::result::Case;

use crate::artifacts::Artifact;
use crate::log::LogSummary;
use crate::outcome::{Clock, Outcome};

/// A run of a build or bench that has ended, or was not run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunEnd {
    /// Its id, as `fw.debug.f0`.
    pub id: String,
    /// True for a bench.
    pub is_bench: bool,
    /// How it went.
    pub outcome: Outcome,
    /// Attempts it took; 0 if it was not run.
    pub attempts: u32,
    /// From the job's begin to its own, and to its end.
    pub time: Span,
    /// Its steps, as far as they were reached.
    pub steps: Vec<StepEnd>,
    /// What it spent its time on, steps included.
    pub spans: Vec<(String, Span)>,
    /// What it made.
    pub artifacts: Vec<Artifact>,
    /// Whether what it keeps was there; none if it keeps nothing.
    pub cache_hit: Option<bool>,
    /// What became of its log.
    pub log: LogSummary,
}

/// A step that has ended, or was not reached.
#[derive(Clone, Debug, PartialEq)]
pub struct StepEnd {
    /// Where it is written, as `builds[0].steps[2]`.
    pub at: String,
    /// What people call it.
    pub name: String,
    /// The test case it is.
    pub case: Option<String>,
    /// How it went.
    pub outcome: Outcome,
    /// The command's exit code, if it came to that.
    pub exit_code: Option<i32>,
    /// From the job's begin.
    pub time: Span,
    /// The end of what it wrote, secrets blotted out.
    pub tail: String,
    /// Cases of the JUnit files that it wrote.
    pub cases: Vec<Case>,
}

/// A stretch of time, from the job's begin on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// Its begin.
    pub start: Duration,
    /// Its end.
    pub end: Duration,
}

impl Span {
    /// How long it is.
    #[must_use]
    pub fn len(&self) -> Duration {
        self.end.saturating_sub(self.start)
    }

    /// True if it took no time.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len().is_zero()
    }
}

impl RunEnd {
    /// A run that was not run.
    pub(crate) fn skipped(run: &pipeline::plan::Run, outcome: Outcome, at: Duration) -> Self {
        Self {
            id: run.id.clone(),
            is_bench: matches!(run.role, pipeline::plan::Role::Bench { .. }),
            outcome,
            attempts: 0,
            time: Span { start: at, end: at },
            steps: Vec::new(),
            spans: Vec::new(),
            artifacts: Vec::new(),
            cache_hit: None,
            log: LogSummary::default(),
        }
    }

    /// Whether the job's time was over in it.
    pub(crate) fn hit_job_timeout(&self) -> bool {
        matches!(
            self.outcome,
            Outcome::Failed(crate::outcome::Failure::Timeout(Clock::Job, _))
        )
    }
}
