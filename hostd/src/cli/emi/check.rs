//! `hostd emi check BOARD`: a board, looked through.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, anyhow};
use base::config::EmiConfig;
use clap::{Args, ValueEnum};
use emi::board::Board;
use emi::{
    Artifact, Clock, Limits, Observer, OpenError, RULES_FILE, Report, RulesFile, Settings,
    Severity, Source, SourceFile, Stored, kicad, quantity,
};
use pipeline::{parse_size, parse_time};

use super::deadline::Deadline;
use super::{Ended, FailOn, bounded, read, write};

/// The extension of KiCad's projects.
const PROJECT: &str = "kicad_pro";

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
    /// Look for so long at most, such as 30s or 10m; as long as a server of default settings does if left out (emi.run_s_max).
    /// Then the report has what the rules that had ended found, and says which are missing
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    time_limit: Option<Duration>,
    /// Take so much memory at most, such as 4GiB; as much as a run of a server of default settings if left out
    /// (emi.memory_mib_max)
    #[arg(long, value_name = "SIZE", value_parser = memory_limit)]
    pub(super) memory_limit: Option<u64>,
    /// From which severity on findings make the exit code 1
    #[arg(long, value_enum, default_value_t = FailOn::Critical)]
    fail_on: FailOn,
    /// Output format
    #[arg(long, value_enum, default_value_t = Output::Text)]
    format: Output,
    /// Write the report into a file
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write everything into a folder, too: rules.json, board.json, overlay.svg, overlay.png, report.html, spectrum.csv,
    /// emission.json, findings.sarif
    #[arg(long, value_name = "DIR")]
    output_dir: Option<PathBuf>,
    /// A report from before (rules.json): pages tell what changed since
    #[arg(long, value_name = "FILE")]
    since: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
enum Output {
    /// A line for each finding, the worst first, with its place in the file
    Text,
    /// rules.json, as the API has it
    Json,
    /// SARIF 2.1.0, for code hosts and editors
    Sarif,
    /// A page with the board, for people
    Html,
}

impl Output {
    /// The artifact that it is.
    fn artifact(self) -> Option<&'static str> {
        match self {
            Self::Text => None,
            Self::Json => Some("rules.json"),
            Self::Sarif => Some("findings.sarif"),
            Self::Html => Some("report.html"),
        }
    }
}

/// A board that was looked through.
struct Checked {
    board: Board,
    report: Report,
    source: SourceFile,
    before: Option<Stored>,
}

impl Check {
    /// Writes what is asked for, and says whether there are findings as bad as `--fail-on` says, and whether time was up.
    pub(super) fn run(&self, out: &mut dyn Write) -> anyhow::Result<Ended> {
        let usual = || Duration::from_secs(u64::from(EmiConfig::default().run_s_max));
        let deadline = Deadline::after(self.time_limit.unwrap_or_else(usual))?;
        let stages = Stages {
            is_shown: bounded::is_shown(),
            deadline: &deadline,
        };
        let Some(checked) = self.check(&stages)? else {
            drop(stages);
            let shown = self.board.display();
            deadline.complain(&format!("{shown} was not read to its end"));
            return Ok(Ended::Late);
        };
        stages.stage("write");
        if let Some(folder) = &self.output_dir {
            checked.write_all(folder)?;
        }
        let bytes = match self.format.artifact() {
            Some(name) => checked.artifact(name)?.bytes,
            None => checked.report.text_in(&checked.source).into_bytes(),
        };
        // Nothing of the progress is left on the terminal when the report comes.
        drop(stages);
        write(&bytes, self.output.as_deref(), out)?;
        let unfinished = &checked.report.unfinished;
        if !unfinished.is_empty() {
            deadline.complain(&format!(
                "these rules had not ended: {}",
                unfinished.join(", ")
            ));
        }
        Ok(match is_met(self.fail_on, &checked.report) {
            true => Ended::Found,
            false if unfinished.is_empty() => Ended::Clean,
            false => Ended::Late,
        })
    }

    /// `None` if time was up before the board was read.
    fn check(&self, stages: &Stages<'_>) -> anyhow::Result<Option<Checked>> {
        let limits = Limits::default();
        stages.stage("read");
        let before = self.since.as_deref().map(super::diff::stored).transpose()?;
        let bytes = read(&self.board, limits.bytes_max)?;
        let opened = match emi::open(&bytes, &limits, stages) {
            Ok(opened) => opened,
            Err(OpenError::Cancelled) => return Ok(None),
            Err(error) => return Err(anyhow!("read {}: {error}", self.board.display())),
        };
        let mut board = opened.board;
        let project = self.board.with_extension(PROJECT);
        if opened.source == Source::KicadBoard && project.is_file() {
            kicad::Project::read(&read(&project, limits.bytes_max)?)
                .map_err(|refusal| anyhow!("read {}: {refusal}", project.display()))?
                .apply(&mut board);
        }
        let settings = self.settings(opened.rules, limits.bytes_max)?;
        let report = emi::check(&mut board, &settings, stages).context("check the board")?;
        let source = match opened.file {
            Some(file) => SourceFile::named(file),
            None => SourceFile::new(self.board.to_string_lossy(), &bytes, &report),
        };
        Ok(Some(Checked {
            board,
            report,
            source,
            before,
        }))
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

impl Checked {
    fn artifact(&self, name: &str) -> anyhow::Result<Artifact> {
        let (board, report, source) = (&self.board, &self.report, &self.source);
        emi::artifact_since(board, report, source, self.before.as_ref(), name)
            .with_context(|| format!("make {name}"))
    }

    fn write_all(&self, folder: &Path) -> anyhow::Result<()> {
        let shown = folder.display();
        std::fs::create_dir_all(folder).with_context(|| format!("create the folder {shown}"))?;
        let (board, report, source) = (&self.board, &self.report, &self.source);
        for artifact in emi::artifacts_since(board, report, source, self.before.as_ref()) {
            let path = folder.join(artifact.name);
            std::fs::write(&path, artifact.bytes)
                .with_context(|| format!("write {}", path.display()))?;
        }
        Ok(())
    }
}

/// A limit that this program can work within.
fn memory_limit(text: &str) -> Result<u64, String> {
    let bytes = parse_size(text)?;
    let mib = EmiConfig::MEMORY_MIB;
    let range = u64::from(*mib.start()) << 20..=u64::from(*mib.end()) << 20;
    match range.contains(&bytes) {
        true => Ok(bytes),
        false => Err(format!("write {}MiB to {}MiB", mib.start(), mib.end())),
    }
}

fn is_met(fail_on: FailOn, report: &Report) -> bool {
    fail_on.least().is_some_and(|least| {
        // The worst are the least.
        let counted = Severity::ALL
            .into_iter()
            .filter(|severity| *severity <= least);
        counted
            .map(|severity| report.summary.of(severity))
            .sum::<usize>()
            > 0
    })
}

/// Tells it on standard error; nobody is left to tell whom that does not reach.
fn complain(text: &str) {
    let _ = writeln!(io::stderr(), "hostd: {text}");
}

/// Shows, on a terminal, how far a check is, and ends it in time.
struct Stages<'d> {
    is_shown: bool,
    deadline: &'d Deadline,
}

impl Drop for Stages<'_> {
    /// Leaves nothing of the line behind.
    fn drop(&mut self) {
        if self.is_shown {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}

impl Observer for Stages<'_> {
    fn stage(&self, name: &'static str) {
        if self.is_shown {
            let _ = write!(io::stderr(), "\r\x1b[K{name} …");
        }
    }

    fn is_late(&self) -> bool {
        self.deadline.is_over()
    }
}
