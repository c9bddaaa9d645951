//! `hostd emi check BOARD`: findings in a board file, without a server.

use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, anyhow, bail};
use clap::{Args, Subcommand, ValueEnum};
use emi::{Clock, Limits, Observer, RULES_FILE, Report, RulesFile, Settings, Severity, Source, kicad, quantity};

use super::trouble::Trouble;

/// The extension of KiCad's projects.
const PROJECT: &str = "kicad_pro";

/// The exit code when there are findings as bad as `--fail-on` says.
const FOUND: u8 = 1;

/// Analysis of boards.
#[derive(Debug, Subcommand)]
pub enum EmiCommand {
    /// Look through a board of KiCad, or through its Gerbers
    ///
    /// Beside the board, or in its zip, its project (net classes) and emi.rules.yaml are read, too. docs/emi-rules.md has
    /// what is looked for, and what can be set.
    ///
    /// Exit code: 0 nothing as bad as --fail-on says, 1 there is, 2 the command line or a file is wrong.
    Check(Check),
}

#[derive(Debug, Args)]
pub struct Check {
    /// The board: a .kicad_pcb of KiCad 5 to 10, a zip of its project, or a zip of Gerber and drill files with X2 netlist
    /// attributes or an IPC-D-356 netlist
    board: PathBuf,
    /// Rules, in place of emi.rules.yaml beside the board
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,
    /// A net that switches on its own: SCK=25MHz,1ns; its frequency, and its rise time from 10 % to 90 %; for its emission
    /// also its voltage and load: SCK=25MHz,1ns,3.3V,50ohm (repeatable)
    #[arg(long, value_name = "NET=HZ,RISE[,VOLTS,OHM]")]
    clock: Vec<Clock>,
    /// The highest frequency that matters: 500MHz; otherwise what the clocks need, or 1 GHz
    #[arg(long, value_name = "HZ", value_parser = |text: &str| quantity(text, "Hz"))]
    max_frequency: Option<f64>,
    /// From which severity on findings make the exit code 1
    #[arg(long, value_enum, default_value_t = FailOn::Critical)]
    fail_on: FailOn,
    /// Output format
    #[arg(long, value_enum, default_value_t = Output::Text)]
    format: Output,
    /// Write the report into a file
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum FailOn {
    Critical,
    Warning,
    Info,
    Never,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Output {
    /// A line for each finding, the worst first
    Text,
    /// rules.json, as the API has it
    Json,
}

impl EmiCommand {
    /// Does what the command line says. What is wrong is told on standard error.
    ///
    /// # Errors
    /// The report cannot be written.
    pub fn run(&self, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
        let Self::Check(check) = self;
        let report = match check.report() {
            Ok(report) => report,
            Err(error) => return Ok(Trouble::Asked(error).tell()),
        };
        let text = match check.format {
            Output::Text => report.text(),
            Output::Json => report.json() + "\n",
        };
        let written = match &check.output {
            Some(path) => {
                std::fs::write(path, text).with_context(|| format!("write {}", path.display()))
            }
            None => print(&text, out).context("print the report"),
        };
        Ok(match written {
            Err(error) => Trouble::Asked(error).tell(),
            Ok(()) if check.fail_on.is_met(&report) => ExitCode::from(FOUND),
            Ok(()) => ExitCode::SUCCESS,
        })
    }
}

impl Check {
    fn report(&self) -> anyhow::Result<Report> {
        let stages = Stages {
            is_shown: io::stderr().is_terminal(),
        };
        let limits = Limits::default();
        let opened = emi::open(&read(&self.board, limits.bytes_max)?, &limits, &stages)
            .map_err(|error| anyhow!("read {}: {error}", self.board.display()))?;
        let mut board = opened.board;
        let project = self.board.with_extension(PROJECT);
        if opened.source == Source::KicadBoard && project.is_file() {
            kicad::Project::read(&read(&project, limits.bytes_max)?)
                .map_err(|refusal| anyhow!("read {}: {refusal}", project.display()))?
                .apply(&mut board);
        }
        let settings = self.settings(opened.rules, limits.bytes_max)?;
        emi::check(board, &settings, &stages).context("check the board")
    }

    /// What is set, the most specific last. Rules that came with the board stand in place of those beside it.
    fn settings(&self, packed: Option<RulesFile>, most: usize) -> anyhow::Result<Settings> {
        let mut settings = Settings::default();
        let beside = self.board.with_file_name(RULES_FILE);
        let rules = self
            .rules
            .clone()
            .or_else(|| (packed.is_none() && beside.is_file()).then_some(beside));
        if let Some(path) = rules {
            let shown = path.display();
            let rules = RulesFile::read(&read(&path, most)?);
            let rules = rules.map_err(|refusal| anyhow!("read {shown}: {refusal}"))?;
            for note in &rules.notes {
                complain(&format!("{shown}: {note}"));
            }
            settings = settings.with(rules);
        } else if let Some(rules) = packed {
            for note in &rules.notes {
                complain(&format!("{}: {RULES_FILE}: {note}", self.board.display()));
            }
            settings = settings.with(rules);
        }
        if let Some(hz) = self.max_frequency {
            settings = settings.with_max_frequency_hz(hz);
        }
        Ok(self
            .clock
            .iter()
            .cloned()
            .fold(settings, Settings::with_clock))
    }
}

impl FailOn {
    fn is_met(self, report: &Report) -> bool {
        let least = match self {
            Self::Critical => Severity::Critical,
            Self::Warning => Severity::Warning,
            Self::Info => Severity::Info,
            Self::Never => return false,
        };
        // The worst are the least.
        let summary = &report.summary;
        let counts = [
            (Severity::Critical, summary.critical),
            (Severity::Warning, summary.warning),
            (Severity::Info, summary.info),
        ];
        counts
            .iter()
            .any(|(severity, count)| *severity <= least && *count > 0)
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

fn print(text: &str, out: &mut dyn Write) -> io::Result<()> {
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        // The reader has closed the pipe: `hostd emi check … | head`.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Tells it on standard error; nobody is left to tell whom that does not reach.
fn complain(text: &str) {
    let _ = writeln!(io::stderr(), "hostd: {text}");
}

/// Shows, on a terminal, how far a check is.
struct Stages {
    is_shown: bool,
}

impl Drop for Stages {
    /// Leaves nothing of the line behind.
    fn drop(&mut self) {
        if self.is_shown {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}

impl Observer for Stages {
    fn stage(&self, name: &'static str) {
        if self.is_shown {
            let _ = write!(io::stderr(), "\r\x1b[K{name} …");
        }
    }
}
