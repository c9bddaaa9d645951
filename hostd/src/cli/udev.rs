//! `hostd udev`: the rules that let a server without root open pods and parts of benches on USB.

use std::io::Write;

use clap::Args;

/// Print the rules.
#[derive(Debug, Args)]
pub(super) struct Udev {}

impl Udev {
    /// Print them.
    ///
    /// # Errors
    /// Nobody reads what is printed.
    pub(super) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        Ok(out.write_all(parts::udev::rules().as_bytes())?)
    }
}
