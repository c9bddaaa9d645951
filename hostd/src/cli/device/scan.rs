//! `hostd device scan`: what is plugged in, and how to write it into the configuration.

mod bench;
mod file;
mod proposal;

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use base::config::Config;
use clap::Args;

use file::ConfigFile;
use proposal::Proposal;

#[derive(Debug, Args)]
pub struct Scan {
    /// Append the new entries to this configuration file, which need not exist; nothing that it has is changed
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
}

/// What is plugged in.
#[derive(Debug, Default)]
struct Found {
    pods: Vec<pods::usb::Plugged>,
    parts: parts::scan::Plugged,
}

impl Found {
    fn look() -> anyhow::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .context("start the async runtime")?;
        runtime.block_on(async {
            Ok(Self {
                pods: pods::usb::plugged().await.context("list USB devices")?,
                parts: parts::scan::plugged()
                    .await
                    .context("list USB devices and serial ports")?,
            })
        })
    }
}

impl Scan {
    /// Prints entries for what is plugged in and not in `config`; or, with a file to write to, not in that.
    ///
    /// # Errors
    /// The system does not tell what is plugged in, the file cannot be read or written, or nobody reads what is printed.
    pub(super) fn run(&self, config: &Config, out: &mut dyn Write) -> anyhow::Result<()> {
        tell(&Found::look()?, config, self.write.as_deref(), out)
    }
}

fn tell(
    found: &Found,
    config: &Config,
    write: Option<&Path>,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let Some(path) = write else {
        return Ok(Proposal::of(found, &config.devices).tell(out)?);
    };
    let unchanged = || format!("add to {}, which stays as it was", path.display());
    let file = ConfigFile::open(path).with_context(unchanged)?;
    let proposal = Proposal::of(found, file.devices());
    if proposal.entries.is_empty() {
        proposal.tell(out)?;
        return Ok(writeln!(
            out,
            "# nothing new: {} stays as it was",
            path.display()
        )?);
    }
    file.append(&proposal.entries).with_context(unchanged)?;
    proposal.tell(out)?;
    Ok(writeln!(
        out,
        "# appended to {}: `hostd config check --config` reads it, and hostd when it is started again",
        path.display()
    )?)
}

#[cfg(test)]
mod tests;
