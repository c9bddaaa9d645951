//! `hostd emi diff OLD NEW`: two reports of a board compared.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::{Args, ValueEnum};
use emi::{STORED_BYTES_MAX, Stored};

use super::{FailOn, read, write};

#[derive(Debug, Args)]
pub struct Diff {
    /// The report from before, a rules.json
    old: PathBuf,
    /// The report from now, a rules.json
    new: PathBuf,
    /// From which severity on findings that are new, or worse than before, make the exit code 1
    #[arg(long, value_enum, default_value_t = FailOn::Critical)]
    fail_on: FailOn,
    /// Output format
    #[arg(long, value_enum, default_value_t = Output::Text)]
    format: Output,
    /// Write the comparison into a file
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Output {
    /// A line for each finding that is new, worse or gone
    Text,
    /// New, gone and kept findings, as the API has them
    Json,
    /// A page, for people
    Html,
}

impl Diff {
    /// Writes the comparison, and says whether something as bad as `--fail-on` says is new or became worse. What may have
    /// been there before does not count: a rule lists the worst of its findings alone.
    pub(super) fn run(&self, out: &mut dyn Write) -> anyhow::Result<bool> {
        let diff = emi::diff(&stored(&self.old)?, &stored(&self.new)?);
        let text = match self.format {
            Output::Text => diff.text(),
            Output::Json => diff.json() + "\n",
            Output::Html => diff.page(),
        };
        write(text.as_bytes(), self.output.as_deref(), out)?;
        let (new, worse) = (diff.summary.new, diff.summary.worse);
        let count = |least| new.from(least) + worse.from(least);
        Ok(self.fail_on.least().is_some_and(|least| count(least) > 0))
    }
}

/// A stored report.
pub(super) fn stored(path: &Path) -> anyhow::Result<Stored> {
    let bytes = read(path, STORED_BYTES_MAX)?;
    Stored::read(&bytes).map_err(|error| anyhow!("read {}: {error}", path.display()))
}
