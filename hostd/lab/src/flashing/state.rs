//! The state of a flash, while it runs and afterwards.

use ::flash::Progress;

use super::Outcome;
use crate::uart::Stage;

/// What is being done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// The pod is being prepared: power, channel level, debug probe.
    Preparing,
    Connecting,
    Erasing,
    Programming,
    Verifying,
    Resetting,
    Done,
    Failed,
    Cancelled,
}

impl Phase {
    /// A phase's part of the whole: the share before it, and its own, in percent. Programming takes longest
    /// on every chip.
    fn share(self) -> (u8, u8) {
        match self {
            Self::Preparing => (0, 2),
            Self::Connecting => (2, 3),
            Self::Erasing => (5, 20),
            Self::Programming => (25, 50),
            Self::Verifying => (75, 20),
            Self::Resetting => (95, 5),
            Self::Done | Self::Failed | Self::Cancelled => (100, 0),
        }
    }

    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Preparing => "preparing",
            Self::Connecting => "connecting",
            Self::Erasing => "erasing",
            Self::Programming => "programming",
            Self::Verifying => "verifying",
            Self::Resetting => "resetting",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// What listeners on the target's UART are told.
    pub(super) fn stage(self) -> Stage {
        match self {
            Self::Done => Stage::Done,
            Self::Failed => Stage::Failed,
            Self::Cancelled => Stage::Cancelled,
            _ => Stage::Begun,
        }
    }
}

impl From<::flash::Phase> for Phase {
    fn from(phase: ::flash::Phase) -> Self {
        match phase {
            ::flash::Phase::Connecting => Self::Connecting,
            ::flash::Phase::Erasing => Self::Erasing,
            ::flash::Phase::Programming => Self::Programming,
            ::flash::Phase::Verifying => Self::Verifying,
            ::flash::Phase::Resetting => Self::Resetting,
        }
    }
}

/// How far a flash is.
#[derive(Debug, Clone)]
pub struct Course {
    pub phase: Phase,
    /// Of the whole flash; never falls.
    pub percent: u8,
    /// Done in the phase, in bytes of flash.
    pub bytes: u64,
    /// The phase's total; 0 if it has none.
    pub total_bytes: u64,
    /// By the wall clock.
    pub finished_ms: Option<u64>,
    /// None while it runs.
    pub outcome: Option<Outcome>,
}

impl Course {
    pub(super) fn new() -> Self {
        Self {
            phase: Phase::Preparing,
            percent: 0,
            bytes: 0,
            total_bytes: 0,
            finished_ms: None,
            outcome: None,
        }
    }

    /// Record the current progress.
    pub(super) fn note(&mut self, progress: Progress) {
        self.phase = progress.phase.into();
        self.bytes = progress.bytes;
        self.total_bytes = progress.total;
        let (before, share) = self.phase.share();
        let done = u64::from(share) * progress.bytes.min(progress.total);
        let done = done.checked_div(progress.total).unwrap_or(0);
        let done = u8::try_from(done).expect("no more than the share of a phase");
        self.percent = self.percent.max(before + done);
    }

    /// It is over.
    pub(super) fn end(&mut self, outcome: Outcome, at_ms: u64) {
        self.phase = outcome.phase();
        if self.phase == Phase::Done {
            self.percent = 100;
        }
        self.finished_ms = Some(at_ms);
        self.outcome = Some(outcome);
    }
}

/// A flash as reported to clients.
#[derive(Debug, Clone)]
pub struct State {
    /// ULID.
    pub id: String,
    pub device: String,
    /// What was asked for.
    pub target: String,
    /// The firmware file.
    pub name: String,
    pub size_bytes: u64,
    pub sha256: String,
    /// The build that it belongs to, and the pack of it.
    pub build: Option<(String, String)>,
    /// By the wall clock.
    pub created_ms: u64,
    pub course: Course,
}
