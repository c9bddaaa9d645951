//! What authors of plugins need and no server: a check, a package, the contract.

use std::io::Write;
use std::path::PathBuf;

use crate::plugin::{check, contract};
use anyhow::Context;
use clap::Args;

#[derive(Debug, Args)]
pub struct Check {
    /// Package, or a folder with plugin.toml and the component
    package: PathBuf,
}

#[derive(Debug, Args)]
pub struct Pack {
    /// Folder with plugin.toml and the component
    folder: PathBuf,
    /// File to write; otherwise ID-VERSION.tar here
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Wit {
    /// Folder to make; without it, the contract is printed
    folder: Option<PathBuf>,
}

impl Check {
    pub(super) fn run(&self, out: &mut dyn Write) -> anyhow::Result<()> {
        let package = check::open(&self.package)?;
        for line in check::report(&package)? {
            writeln!(out, "{line}")?;
        }
        Ok(())
    }
}

impl Pack {
    pub(super) fn run(&self, out: &mut dyn Write) -> anyhow::Result<()> {
        let package = check::open(&self.folder)?;
        let path = self.output.clone().unwrap_or_else(|| {
            let manifest = package.manifest();
            PathBuf::from(format!("{}-{}.tar", manifest.id, manifest.version))
        });
        std::fs::write(&path, package.pack())
            .with_context(|| format!("write {}", path.display()))?;
        writeln!(out, "{}  sha256:{}", path.display(), package.digest())?;
        Ok(())
    }
}

impl Wit {
    pub(super) fn run(&self, out: &mut dyn Write) -> anyhow::Result<()> {
        let Some(folder) = &self.folder else {
            for (_, text) in contract::FILES {
                writeln!(out, "{text}")?;
            }
            return Ok(());
        };
        std::fs::create_dir_all(folder).with_context(|| format!("make {}", folder.display()))?;
        for (name, text) in contract::FILES {
            let path = folder.join(name);
            std::fs::write(&path, text).with_context(|| format!("write {}", path.display()))?;
        }
        writeln!(
            out,
            "hostd:plugin@{} in {}",
            contract::VERSION,
            folder.display()
        )?;
        Ok(())
    }
}
