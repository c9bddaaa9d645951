//! How a flash ended: what was done, or why it failed, as a stable code and a sentence.

use std::error::Error;
use std::time::Duration;

use ::flash::{FlashError, Programmed, Report};
use pods::PodError;

use super::Phase;

/// Longest sentence about a failure, in bytes. Libraries report their causes at length.
const SENTENCE_BYTES_MAX: usize = 600;

/// Who ended a flash early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// Somebody cancelled it.
    Cancelled,
    /// The lease that let it in is over.
    LeaseLost,
    /// The server stops.
    Stopping,
}

/// Why it failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// For programs.
    pub code: &'static str,
    /// For people.
    pub sentence: String,
    /// The target did not answer, as opposed to could not be programmed.
    pub is_target_unreachable: bool,
}

/// How it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// None when it ended well.
    pub failure: Option<Failure>,
    /// What was done, a line for each step.
    pub output: String,
    /// What of the firmware is where on the target.
    pub programmed: Programmed,
    /// The chip it was programmed as.
    pub chip: Option<String>,
    pub duration: Duration,
}

impl Outcome {
    pub(super) fn phase(&self) -> Phase {
        match &self.failure {
            None => Phase::Done,
            Some(failure) if failure.code == CANCELLED => Phase::Cancelled,
            Some(_) => Phase::Failed,
        }
    }

    pub(super) fn of_report(report: Report, mut lines: Vec<String>, took: Duration) -> Self {
        let found = report.found.as_ref();
        let found = found.map_or_else(String::new, |found| format!(" ({found})"));
        lines.push(format!(
            "programmed {} bytes on {}{found}",
            report.programmed.bytes(),
            report.chip
        ));
        lines.extend(report.programmed.lines());
        if report.verified {
            lines.push("verified".to_owned());
        }
        lines.push(if report.reset {
            "reset: the firmware runs".to_owned()
        } else {
            "not reset: the core is halted".to_owned()
        });
        Self {
            failure: None,
            output: text(lines),
            programmed: report.programmed,
            chip: Some(report.chip),
            duration: took,
        }
    }

    pub(super) fn of_failure(failure: Failure, mut lines: Vec<String>, took: Duration) -> Self {
        lines.push(format!("failed: {}", failure.sentence));
        Self {
            failure: Some(failure),
            output: text(lines),
            programmed: Programmed::default(),
            chip: None,
            duration: took,
        }
    }
}

const CANCELLED: &str = "cancelled";

impl Failure {
    fn new(code: &'static str, sentence: impl Into<String>) -> Self {
        let mut sentence = sentence.into();
        sentence.truncate(sentence.floor_char_boundary(SENTENCE_BYTES_MAX));
        Self {
            code,
            sentence,
            is_target_unreachable: false,
        }
    }

    /// Ended before the target was touched.
    pub(super) fn of_end(ended: Ended) -> Self {
        match ended {
            Ended::Cancelled => Self::new(CANCELLED, "cancelled; the chip is untouched"),
            Ended::LeaseLost => Self::new(
                "lease_lost",
                "the lease that let it in is over; the chip is untouched",
            ),
            Ended::Stopping => Self::new("stopped", "the server stopped; the chip is untouched"),
        }
    }

    /// Its time ran out before the target was touched.
    pub(super) fn of_deadline() -> Self {
        Self::new(
            "deadline",
            "ran out of time while preparing; the chip is untouched",
        )
    }

    /// The pod did not get ready.
    pub(super) fn of_pod(error: &PodError) -> Self {
        let code = match error {
            PodError::Refused(_) => "pod_refused",
            PodError::Timeout { .. } => "device_timeout",
            PodError::Protocol(_) => "pod_protocol",
            _ => "device_offline",
        };
        Self::new(code, chain(error))
    }

    /// `ended` says who stopped it, if anyone did.
    pub(super) fn of_flash(error: &FlashError, ended: Option<Ended>) -> Self {
        let sentence = chain(error);
        let failure = match (error, ended) {
            (FlashError::Cancelled { .. }, Some(Ended::LeaseLost)) => Self::new(
                "lease_lost",
                format!("the lease that let it in is over: {sentence}"),
            ),
            (FlashError::Cancelled { .. }, Some(Ended::Stopping)) => {
                Self::new("stopped", format!("the server stopped: {sentence}"))
            }
            _ => Self::new(code(error), sentence),
        };
        Self {
            is_target_unreachable: error.target_unreachable(),
            ..failure
        }
    }

    /// The thread that flashed is gone.
    pub(super) fn of_panic() -> Self {
        Self::new(
            "internal",
            "the server failed while it flashed; its log has the details",
        )
    }
}

fn code(error: &FlashError) -> &'static str {
    match error {
        FlashError::UnsupportedChip { .. } => "unknown_target",
        FlashError::AmbiguousChip { .. } => "ambiguous_target",
        FlashError::Image(_) => "bad_firmware",
        FlashError::OutsideMemory { .. } => "outside_memory",
        FlashError::NoTarget => "no_target",
        FlashError::TargetLost { .. } => "target_lost",
        FlashError::WrongTarget { .. } => "wrong_target",
        FlashError::Locked { .. } => "target_locked",
        FlashError::Attach { .. } => "attach_failed",
        FlashError::Erase { .. } => "erase_failed",
        FlashError::Program { .. } => "program_failed",
        FlashError::Verify { .. } => "verify_failed",
        FlashError::ReadBack { .. } => "read_failed",
        FlashError::Reset { .. } => "reset_failed",
        FlashError::Probe { .. } => "probe_failed",
        FlashError::LinkLost { .. } => "device_lost",
        FlashError::Cancelled { .. } => CANCELLED,
        FlashError::Deadline { .. } => "deadline",
    }
}

/// An error with its causes.
fn chain(error: &dyn Error) -> String {
    let mut sentence = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        // Some repeat their cause themselves.
        if !sentence.ends_with(&cause_text) {
            sentence.push_str(": ");
            sentence.push_str(&cause_text);
        }
        source = cause.source();
    }
    sentence
}

fn text(lines: Vec<String>) -> String {
    lines.into_iter().map(|line| line + "\n").collect()
}
