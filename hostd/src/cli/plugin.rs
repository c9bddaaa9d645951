//! `hostd plugin install | approve | revoke | configure | list | enable | disable | rollback | logs | remove`, which ask the
//! server that runs on the data folder, `hostd plugin dev`, which installs what it builds there, and `hostd plugin new |
//! component | check | pack | wit`, which need none.

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::{Args, Subcommand};

use crate::admin;
use crate::plugin::command::{Command, Told};
use base::config::Config;

mod approve;
mod author;
mod dev;
mod shown;

use approve::Approve;
use author::{Check, Component, New, Pack, Wit};
use dev::Dev;

/// Pause between two looks at a log that is followed.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Plugins of a running server, and packages of plugins.
#[derive(Debug, Subcommand)]
pub enum PluginCommand {
    /// Install a plugin, or another version of one, without stopping anything
    ///
    /// Requests that are being answered end in the version in which they began.
    Install(Install),
    /// Grant a plugin what it wants, in one organisation; a plugin does nothing where it was not approved
    Approve(Approve),
    /// Take back what a plugin was granted in an organisation
    Revoke(InOrg),
    /// Set, for one organisation, what the manifest leaves open in its table config
    ///
    /// What is not named goes back to its default.
    Configure(Configure),
    /// List the plugins, what they wait for, and where they may do what
    List,
    /// Serve a plugin again that was disabled or has failed
    Enable(Named),
    /// Stop serving a plugin and keep everything of it
    Disable(Named),
    /// Go back to the version before
    Rollback(Named),
    /// Print what a plugin has logged
    Logs(Logs),
    /// Remove a plugin
    Remove(Remove),
    /// Write a complete example of a plugin into a new folder, with its test and the commands that build it
    New(New),
    /// Build a plugin, install it into the running server and follow its log, and again whenever a file changes
    ///
    /// Ends at Ctrl-C; what was installed stays.
    Dev(Dev),
    /// Make a component of a core module, as compilers of Rust, C and Go make them
    Component(Component),
    /// Say whether a package would load: manifest, imports, compiling, routes
    Check(Check),
    /// Make one file of a folder with plugin.toml and the component
    Pack(Pack),
    /// Write the contract (WIT) that plugins of this hostd are built against
    Wit(Wit),
}

#[derive(Debug, Args)]
pub struct Install {
    /// Package made by `hostd plugin pack`, or a folder with plugin.toml and the component
    package: PathBuf,
}

#[derive(Debug, Args)]
pub struct Named {
    /// Id of the plugin
    id: String,
}

#[derive(Debug, Args)]
pub struct InOrg {
    /// Id of the plugin
    id: String,
    /// Name or id of the organisation
    #[arg(long, default_value = "default", value_name = "ORG")]
    org: String,
}

#[derive(Debug, Args)]
pub struct Configure {
    #[command(flatten)]
    of: InOrg,
    /// A value, as JSON or as plain text; may be given several times
    #[arg(long = "set", value_name = "NAME=VALUE")]
    set: Vec<String>,
}

#[derive(Debug, Args)]
pub struct Logs {
    /// Id of the plugin
    id: String,
    /// Go on until Ctrl-C
    #[arg(long, short)]
    follow: bool,
}

#[derive(Debug, Args)]
pub struct Remove {
    /// Id of the plugin
    id: String,
    /// Also what it has stored and its configuration; what it was granted goes in any case
    #[arg(long)]
    data: bool,
}

impl PluginCommand {
    /// Do what the command line says, on the data folder of the configuration that `load` gives.
    ///
    /// # Errors
    /// No server runs on the data folder, or it refuses; a package is not what it should be.
    pub fn run(
        self,
        load: impl FnOnce() -> anyhow::Result<Config>,
        out: &mut dyn Write,
    ) -> anyhow::Result<()> {
        let command = match self {
            Self::New(new) => return new.run(out),
            Self::Dev(dev) => return dev.run(&load()?, out),
            Self::Component(component) => return component.run(out),
            Self::Check(check) => return check.run(out),
            Self::Pack(pack) => return pack.run(out),
            Self::Wit(wit) => return wit.run(out),
            Self::Logs(logs) => return logs.run(&load()?, out),
            Self::Install(install) => install.command()?,
            Self::Approve(approve) => approve.command(),
            Self::Revoke(InOrg { id, org }) => Command::Revoke { id, org },
            Self::Configure(configure) => configure.command()?,
            Self::List => Command::List,
            Self::Enable(Named { id }) => Command::Enable { id },
            Self::Disable(Named { id }) => Command::Disable { id },
            Self::Rollback(Named { id }) => Command::RollBack { id },
            Self::Remove(Remove { id, data }) => Command::Remove { id, data },
        };
        shown::print(&ask(&load()?, command)?, out)
    }
}

impl Install {
    fn command(self) -> anyhow::Result<Command> {
        let package = std::path::absolute(&self.package).context("find the package")?;
        Ok(Command::Install { package })
    }
}

impl Configure {
    fn command(self) -> anyhow::Result<Command> {
        let InOrg { id, org } = self.of;
        let mut values = serde_json::Map::new();
        for given in &self.set {
            let Some((name, value)) = given.split_once('=') else {
                bail!("read --set {given}: write it as NAME=VALUE");
            };
            let value = serde_json::from_str(value).unwrap_or_else(|_| value.into());
            values.insert(name.to_owned(), value);
        }
        let values = (!values.is_empty()).then(|| values.into());
        Ok(Command::Configure { id, org, values })
    }
}

impl Logs {
    fn run(self, config: &Config, out: &mut dyn Write) -> anyhow::Result<()> {
        let mut from = 0;
        loop {
            let id = self.id.clone();
            let told = ask(config, Command::Logs { id, from })?;
            if let Told::Lines(lines) = &told {
                from = lines.last().map_or(from, |line| line.number + 1);
            }
            shown::print(&told, out)?;
            if !self.follow {
                return Ok(());
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }
}

fn ask(config: &Config, command: Command) -> anyhow::Result<Told> {
    match admin::plugin(&config.data_dir, command)? {
        Some(told) => Ok(told),
        None => bail!(
            "find a server that runs on {}; start it with hostd serve, or name another folder with --data-dir",
            config.data_dir.display()
        ),
    }
}
