//! `hostd golden CAPTURE`: what later captures are compared with.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, ValueEnum};
use pipeline::rules::{Align, Quantity, Time};
use rules::Make;

use super::super::trouble::Trouble;
use super::source::Source;

/// Make a golden file of a good capture.
#[derive(Debug, Args)]
pub struct Golden {
    #[command(flatten)]
    source: Source,
    /// File to write
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    /// These channels alone
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    channels: Vec<String>,
    /// How far an edge of another capture may be from its place, as 1us
    #[arg(long, value_name = "TIME", value_parser = Time::parse, default_value = "1us", allow_hyphen_values = true)]
    time: Time,
    /// How far an analog value of another capture may be off, as 50mV
    #[arg(long, value_name = "VALUE", value_parser = Quantity::parse)]
    amplitude: Option<Quantity>,
    /// What is laid over each other when captures are compared
    #[arg(long, value_enum, default_value_t = By::Trigger)]
    align: By,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum By {
    /// The triggers: the first samples of captures that have none
    Trigger,
    /// The first edges
    FirstEdge,
    /// What makes most edges fit
    Best,
}

impl Golden {
    /// Writes the file.
    ///
    /// # Errors
    /// Standard output cannot be written to.
    pub fn run(&self, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
        match self.make() {
            Ok(bytes) => {
                let shown = self.output.display();
                writeln!(out, "{shown}: {bytes} bytes").context("print the result")?;
                Ok(ExitCode::SUCCESS)
            }
            Err(trouble) => Ok(trouble.tell()),
        }
    }

    fn make(&self) -> Result<usize, Trouble> {
        if self.time.0 < 0 {
            let error = anyhow::anyhow!("take --time {}: it must not be negative", self.time);
            return Err(Trouble::Asked(error));
        }
        let stored = self.source.load().map_err(Trouble::Asked)?;
        let capture = stored.capture().map_err(Trouble::Asked)?;
        let make = Make {
            channels: &self.channels,
            time: self.time,
            amplitude: self.amplitude,
            align: match self.align {
                By::Trigger => Align::Trigger,
                By::FirstEdge => Align::FirstEdge,
                By::Best => Align::Best,
            },
        };
        let golden = rules::Golden::make(&capture, &make);
        let bytes = golden.and_then(|golden| golden.to_bytes());
        let bytes = bytes.map_err(|error| Trouble::Asked(error.into()))?;
        let shown = self.output.display();
        fs::write(&self.output, &bytes).with_context(|| format!("write {shown}"))?;
        Ok(bytes.len())
    }
}
