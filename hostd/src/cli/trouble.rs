//! Why a command could not do its work, and the exit code that says whose turn it is.

use std::io::{self, Write};
use std::process::ExitCode;

use super::check::DEFINITION;
use super::out;

/// The exit code when a machine is at fault: this one, or the server.
pub(super) const INFRASTRUCTURE: u8 = 3;

/// The exit code when somebody ended a job.
pub(super) const CANCELLED: u8 = 4;

/// Why a job was not carried out. Each is a fragment that fits "failed to …".
#[derive(Debug)]
pub(super) enum Trouble {
    /// What was asked for cannot be.
    Asked(anyhow::Error),
    /// A machine is at fault.
    Machine(anyhow::Error),
}

impl Trouble {
    /// Tells it on standard error.
    pub(super) fn tell(&self) -> ExitCode {
        let (error, code) = match self {
            Self::Asked(error) => (error, DEFINITION),
            Self::Machine(error) => (error, INFRASTRUCTURE),
        };
        if out::is_unread(error) {
            return ExitCode::from(out::UNREAD);
        }
        // Nobody is left to tell whom standard error does not reach.
        let _ = writeln!(io::stderr(), "hostd: failed to {error:#}");
        ExitCode::from(code)
    }
}

impl From<anyhow::Error> for Trouble {
    fn from(error: anyhow::Error) -> Self {
        Self::Machine(error)
    }
}
