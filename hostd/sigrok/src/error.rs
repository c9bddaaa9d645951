//! Why there is no decoding by `sigrok-cli`.

use decode::foreign::{EngineTrouble, ForeignError};
use jail::{LimitHit, WorkerError};

/// Why `sigrok-cli` does not decode. The sentences are for callers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SigrokError {
    /// The program is not there.
    #[error(
        "sigrok-cli is not installed where hostd runs (Debian's package sigrok-cli), so no decoders of libsigrokdecode are there"
    )]
    NotInstalled,
    /// A name that no decoder has.
    #[error("`{0}` is no decoder of sigrok-cli; GET /api/decoders?engine=sigrok lists them")]
    Unknown(String),
    /// Decoders that do not fit.
    #[error("{0}")]
    Stack(String),
    /// It took too long.
    #[error("sigrok-cli took more than {0} s; ask for a shorter range (from, to)")]
    TimedOut(u64),
    /// It took too much, or failed.
    #[error("sigrok-cli failed: {0}")]
    Failed(String),
}

impl From<WorkerError> for SigrokError {
    fn from(error: WorkerError) -> Self {
        match error {
            WorkerError::Limit(LimitHit::Wall(seconds) | LimitHit::Cpu(seconds)) => {
                Self::TimedOut(seconds)
            }
            WorkerError::Limit(LimitHit::Output(mib)) => Self::Failed(format!(
                "it wrote more than {mib} MiB, what came is cut; ask for a shorter range (from, to)"
            )),
            WorkerError::Limit(limit) => Self::Failed(format!("it took more than {limit}")),
            WorkerError::Refused(reason) => Self::Failed(last_line(&reason)),
            WorkerError::Killed { signal, reason } => {
                Self::Failed(format!("signal {signal} ended it: {}", last_line(&reason)))
            }
            error @ (WorkerError::Start(_) | WorkerError::Pipe(_) | WorkerError::Cancelled) => {
                Self::Failed(error.to_string())
            }
        }
    }
}

impl From<SigrokError> for ForeignError {
    fn from(error: SigrokError) -> Self {
        let trouble = match error {
            SigrokError::TimedOut(_) => EngineTrouble::TimedOut,
            SigrokError::NotInstalled => EngineTrouble::NotInstalled,
            SigrokError::Unknown(_) | SigrokError::Stack(_) => EngineTrouble::Unfit,
            SigrokError::Failed(_) => EngineTrouble::Failed,
        };
        Self::Engine(trouble, error.to_string())
    }
}

/// Longest sentence of the program that is repeated.
const SAID_CHARS_MAX: usize = 300;

/// The last line that says something, on one line.
fn last_line(reason: &str) -> String {
    let lines = reason.lines().rev().map(str::trim);
    let line = lines.into_iter().find(|line| !line.is_empty());
    let line = line.unwrap_or("it does not say why");
    let plain = line.chars().filter(|letter| !letter.is_control());
    plain.take(SAID_CHARS_MAX).collect()
}
