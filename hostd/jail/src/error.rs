//! Why there is no jail, and what to do about it.

use std::io;

use crate::lack::Lack;

/// What can go wrong with a jail. A command that fails is not an error here.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The machine does not let this user make jails.
    #[error("failed to isolate: {lack}; {}", lack.cure())]
    NoIsolation {
        /// What is missing.
        lack: Lack,
        /// What the kernel said.
        source: io::Error,
    },
    /// The request cannot be met.
    #[error("failed to describe a jail: {0}")]
    Spec(&'static str),
    /// The blueprint, of which arguments and environment are the largest part, is too long to be sent.
    #[error(
        "failed to describe a jail: {bytes} bytes of arguments and environment, at most {most}"
    )]
    TooLong {
        /// Bytes of the blueprint.
        bytes: usize,
        /// Most bytes that a blueprint may have.
        most: usize,
    },
    /// The jail was made, but the program cannot be executed in it.
    #[error("failed to execute {program:?} in the jail")]
    Command {
        /// The program.
        program: String,
        /// Why, for example not found.
        source: io::Error,
    },
    /// A step that usually works on this machine failed this time.
    #[error("failed to {step} for a jail")]
    Start {
        /// What was being done.
        step: String,
        /// Why it failed.
        source: io::Error,
    },
    /// The jail or the nursery was ended from outside.
    #[error("failed to hear from the jail: it was ended from outside")]
    Lost,
}

impl Error {
    /// A stable name of the kind, for programs.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::NoIsolation { .. } => "no_isolation",
            Self::Spec(_) | Self::TooLong { .. } => "bad_spec",
            Self::Command { .. } => "not_executable",
            Self::Start { .. } => "not_started",
            Self::Lost => "lost",
        }
    }

    pub(crate) fn start(step: &str, source: impl Into<io::Error>) -> Self {
        Self::Start {
            step: step.to_owned(),
            source: source.into(),
        }
    }
}
