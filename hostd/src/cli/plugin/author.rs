//! What authors of plugins need and no server: a template, a component, a check, a package, the contract.

use std::io::Write;
use std::path::PathBuf;

use crate::plugin::{check, component, contract, template};
use anyhow::Context;
use clap::Args;
use clap::builder::PossibleValuesParser;
use plugins::id::PluginId;

#[derive(Debug, Args)]
pub struct New {
    #[arg(value_parser = PossibleValuesParser::new(template::languages()))]
    language: String,
    /// Folder to make
    folder: PathBuf,
    /// Id of the plugin, such as acme.rails; otherwise local. and the name of the folder
    #[arg(long)]
    id: Option<String>,
}

#[derive(Debug, Args)]
pub struct Component {
    /// Core module (WebAssembly) that a compiler made
    module: PathBuf,
    /// File or folder with the world that the module was written for, if the module does not carry it
    #[arg(long, value_name = "PATH")]
    wit: Option<PathBuf>,
    /// File to write
    #[arg(long, short, value_name = "FILE", default_value = "plugin.wasm")]
    output: PathBuf,
}

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

impl New {
    pub(super) fn run(&self, out: &mut dyn Write) -> anyhow::Result<()> {
        let id = match &self.id {
            Some(id) => id.clone(),
            None => {
                let folder = std::path::absolute(&self.folder).context("find the folder")?;
                let name = folder.file_name().unwrap_or_default().to_string_lossy();
                format!("local.{}", name.to_lowercase().replace(['_', ' '], "-"))
            }
        };
        let read: Result<PluginId, _> = id.parse();
        let id = read.with_context(|| format!("take {id:?} as the id (--id names another)"))?;
        template::write(&self.language, &self.folder, &id)?;
        let folder = self.folder.display();
        writeln!(
            out,
            "{id} in {folder}; {folder}/README.md says how it is built"
        )?;
        Ok(())
    }
}

impl Component {
    pub(super) fn run(&self, out: &mut dyn Write) -> anyhow::Result<()> {
        let module = std::fs::read(&self.module)
            .with_context(|| format!("read {}", self.module.display()))?;
        let made = component::of_module(module, self.wit.as_deref())?;
        let path = self.output.display();
        std::fs::write(&self.output, &made).with_context(|| format!("write {path}"))?;
        writeln!(out, "{path}: {} bytes", made.len())?;
        Ok(())
    }
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
