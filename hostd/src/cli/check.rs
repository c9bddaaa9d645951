//! `hostd check`: pipelines read without being run; without one, the data folder.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Args;

use base::config::Config;
use pipeline::limits::DOCUMENT_BYTES_MAX;
use pipeline::plan::{Plan, Role};
use pipeline::{Caps, Pipeline, Report};

/// The exit code when a pipeline is wrong.
pub(crate) const DEFINITION: u8 = 2;

/// Check pipelines, or look through a data folder.
#[derive(Debug, Args)]
pub struct Check {
    /// Pipelines; or the folder of one backup, to look through it instead of the data folder
    #[arg(value_name = "FILE")]
    paths: Vec<PathBuf>,
    /// Print the JSON Schema of pipelines, for editors
    #[arg(long, conflicts_with = "paths")]
    schema: bool,
}

impl Check {
    /// Tell everything that is wrong.
    ///
    /// # Errors
    /// A data folder cannot be read or is damaged.
    pub fn run(
        &self,
        config: impl FnOnce() -> anyhow::Result<Config>,
        out: &mut dyn Write,
    ) -> anyhow::Result<ExitCode> {
        if self.schema {
            let schema = serde_json::to_string_pretty(&pipeline::schema())?;
            writeln!(out, "{schema}")?;
            return Ok(ExitCode::SUCCESS);
        }
        let backup = match &self.paths[..] {
            [] => None,
            [folder] if folder.is_dir() => Some(folder.as_path()),
            files => return check(files, out),
        };
        super::backup::check(backup, &config()?, out).map(|()| ExitCode::SUCCESS)
    }
}

fn check(files: &[PathBuf], out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let caps = Caps::default();
    let mut code = ExitCode::SUCCESS;
    for file in files {
        let name = file.display().to_string();
        let text = match read(file) {
            Ok(text) => text,
            Err(error) => {
                // Nobody is left to tell whom standard error does not reach.
                let _ = writeln!(std::io::stderr(), "hostd: failed to {error:#}");
                code = ExitCode::from(DEFINITION);
                continue;
            }
        };
        match parse(&text, &caps) {
            Ok(pipeline) => {
                let plan = pipeline::expand(&pipeline, &caps);
                let (builds, benches) = counts(&plan);
                writeln!(out, "{name}: {builds} runs of builds, {benches} of benches")?;
            }
            Err(report) => {
                write!(out, "{}", report.render(&name))?;
                code = ExitCode::from(DEFINITION);
            }
        }
    }
    Ok(code)
}

/// Reads a pipeline and checks all of it that can be known here.
///
/// # Errors
/// Everything that is wrong, as far as it can be told at once.
pub(crate) fn parse(text: &str, caps: &Caps) -> Result<Pipeline, Box<Report>> {
    let pipeline = pipeline::parse(text, caps)?;
    pipeline.check_chips(text, flash::chip_refusal)?;
    Ok(pipeline)
}

/// Runs of builds and of benches.
fn counts(plan: &Plan) -> (usize, usize) {
    let is_build = |run: &&pipeline::plan::Run| matches!(run.role, Role::Build { .. });
    let builds = plan.runs.iter().filter(is_build).count();
    (builds, plan.runs.len() - builds)
}

/// The text of a pipeline.
///
/// # Errors
/// It cannot be read, is far too long, or is no text.
pub(crate) fn read(file: &Path) -> anyhow::Result<String> {
    let what = || format!("read {}", file.display());
    let file = std::fs::File::open(file).with_context(what)?;
    text_of(file).with_context(what)
}

/// The text of a pipeline that comes from somewhere.
///
/// # Errors
/// It cannot be read, or is no text.
pub(crate) fn text_of(from: impl Read) -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    // A byte more, so that what is too long is refused by the parser, with its limit.
    let most = DOCUMENT_BYTES_MAX as u64 + 1;
    from.take(most).read_to_end(&mut bytes)?;
    let cut = bytes.len() as u64 == most;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text),
        // The cut may go through a character.
        Err(error) if cut => Ok(String::from_utf8_lossy(error.as_bytes()).into_owned()),
        Err(_) => bail!("it is no UTF-8 text"),
    }
}

#[cfg(test)]
mod tests {
    use pipeline::limits::{BAUD, LA_CHANNELS, SAMPLES_MAX};
    use pods::protocol::{self, UART_BAUD_MAX, UART_BAUD_MIN};

    /// The format knows no chip, so that it is asked here.
    #[test]
    fn a_chip_that_is_flashed_is_known() {
        let text = |target: &str| {
            format!(
                "version: 1
builds:
  - {{ id: fw, steps: [{{ run: make }}], packs: [{{ id: a, artifacts: [fw.elf] }}] }}
benches:
  - id: b
    for_each: fw
    device: {{ name: d }}
    steps: [{{ flash: {{ artifact: fw.elf, target: {target} }} }}]
"
            )
        };
        let caps = pipeline::Caps::default();
        assert!(super::parse(&text("stm32f030r8"), &caps).is_ok());
        let report = super::parse(&text("stm32f03r8"), &caps).unwrap_err();
        let told = report.render("p.yml");
        assert!(told.starts_with("p.yml:8:"), "{told}");
        assert!(
            told.contains("the nearest are ") && told.contains("STM32F030R8"),
            "{told}"
        );
    }

    /// The format knows no pod, so it has these bounds of its own.
    #[test]
    fn a_pipeline_may_ask_for_what_pods_have() {
        let rates = (u64::from(UART_BAUD_MIN), u64::from(UART_BAUD_MAX));
        assert_eq!(BAUD, rates);
        assert_eq!(LA_CHANNELS, u64::from(protocol::LA_CHANNELS));
        assert_eq!(SAMPLES_MAX, protocol::LA_SAMPLES_MAX);
    }
}
