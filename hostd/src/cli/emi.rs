//! `hostd emi check BOARD` and `hostd emi diff OLD NEW`: findings in boards, without a server.

mod bounded;
mod check;
mod deadline;
mod diff;

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, bail};
use base::config::EmiConfig;
use clap::{Subcommand, ValueEnum};
use emi::Severity;

use check::Check;
use diff::Diff;

use super::trouble::Trouble;

/// The exit code when there are findings as bad as `--fail-on` says.
const FOUND: u8 = 1;

/// The exit code when time was up before all rules had ended, and nothing as bad as `--fail-on` says was found until then.
const LATE: u8 = 5;

/// What a look at a board came to.
enum Ended {
    /// There is nothing as bad as `--fail-on` says.
    Clean,
    /// There is.
    Found,
    /// Until time was up, there was not.
    Late,
}

impl Ended {
    fn code(&self) -> ExitCode {
        match self {
            Self::Clean => ExitCode::SUCCESS,
            Self::Found => ExitCode::from(FOUND),
            Self::Late => ExitCode::from(LATE),
        }
    }
}

/// Analysis of boards.
#[derive(Debug, Subcommand)]
pub enum EmiCommand {
    /// Look through a board of KiCad, or through its Gerbers
    ///
    /// Beside the board, or in its zip, its project (net classes) and emi.rules.yaml are read, too. docs/emi-rules.md has
    /// what is looked for, and what can be set.
    ///
    /// Exit code: 0 nothing as bad as --fail-on says, 1 there is, 2 the command line or a file is wrong, or the board takes more
    /// memory than --memory-limit says, 5 the time limit was over, and nothing so bad was found until then.
    Check(Check),
    /// Compare two reports of a board, as `hostd emi check --format json` writes them: new, gone and kept findings
    ///
    /// Exit code: 0 nothing new or worse that is as bad as --fail-on says, 1 there is, 2 the command line or a file is wrong.
    Diff(Diff),
}

/// From which severity on something makes the exit code 1.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum FailOn {
    Critical,
    Warning,
    Info,
    Never,
}

impl FailOn {
    /// The least bad severity that counts.
    fn least(self) -> Option<Severity> {
        match self {
            Self::Critical => Some(Severity::Critical),
            Self::Warning => Some(Severity::Warning),
            Self::Info => Some(Severity::Info),
            Self::Never => None,
        }
    }
}

impl EmiCommand {
    /// Does what the command line says. What is wrong is told on standard error.
    ///
    /// # Errors
    /// None; the exit code says it.
    pub fn run(&self, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
        let memory_bytes = self.memory_bytes();
        if !bounded::is_inside() {
            return Ok(bounded::run(memory_bytes).unwrap_or_else(|trouble| trouble.tell()));
        }
        bounded::confine(memory_bytes)?;
        let ended = match self {
            Self::Check(check) => check.run(out),
            Self::Diff(diff) => diff.run(out).map(|is_met| match is_met {
                true => Ended::Found,
                false => Ended::Clean,
            }),
        };
        Ok(match ended {
            Err(error) => Trouble::Asked(error).tell(),
            Ok(ended) => ended.code(),
        })
    }

    /// The memory that it may take: what is asked for, or as much as a server of default settings lets a run take.
    fn memory_bytes(&self) -> u64 {
        let usual = || u64::from(EmiConfig::default().memory_mib_max) << 20;
        match self {
            Self::Check(check) => check.memory_limit.unwrap_or_else(usual),
            Self::Diff(_) => usual(),
        }
    }
}

/// A file of at most so many bytes.
fn read(path: &Path, most: usize) -> anyhow::Result<Vec<u8>> {
    let shown = path.display();
    let file = File::open(path).with_context(|| format!("open {shown}"))?;
    let mut bytes = Vec::new();
    let bound = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    file.take(bound)
        .read_to_end(&mut bytes)
        .with_context(|| format!("read {shown}"))?;
    if bytes.len() > most {
        bail!("read {shown}: it has more than {most} bytes");
    }
    Ok(bytes)
}

/// Writes a report into the file that is named, or prints it.
fn write(bytes: &[u8], to: Option<&Path>, out: &mut dyn Write) -> anyhow::Result<()> {
    match to {
        Some(path) => {
            std::fs::write(path, bytes).with_context(|| format!("write {}", path.display()))
        }
        None => print(bytes, out).context("print the report"),
    }
}

fn print(bytes: &[u8], out: &mut dyn Write) -> io::Result<()> {
    match out.write_all(bytes).and_then(|()| out.flush()) {
        // The reader has closed the pipe: `hostd emi check … | head`.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}
