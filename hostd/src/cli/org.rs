//! `hostd org add | list | trust`, while the server is stopped.

use std::io::Write;

use anyhow::{Context, bail};
use clap::{Args, Subcommand};

use base::clock;
use base::config::Config;
use identity::Identity;
use identity::offline::{with_identity, with_store};
use store::{Store, orgs};

/// Organisations, while the server is stopped.
#[derive(Debug, Subcommand)]
pub enum OrgCommand {
    /// Add an organisation; its first user is added with `hostd user add --org`
    Add {
        /// Name: 1 to 64 of A-Z a-z 0-9 . _ @ + -
        name: String,
    },
    /// List the organisations
    List,
    /// Say which branches and tags an organisation trusts: what their jobs cache, all its jobs read
    ///
    /// What is given replaces what there was.
    Trust(Trust),
}

#[derive(Debug, Args)]
pub struct Trust {
    /// Name of the organisation
    name: String,
    /// Pattern of trusted branches or tags, such as main or release/*; may be given several times
    #[arg(long = "ref", value_name = "PATTERN", required_unless_present = "none")]
    refs: Vec<String>,
    /// Trust none
    #[arg(long, conflicts_with = "refs")]
    none: bool,
}

impl OrgCommand {
    /// Do what the command line says, on the data folder of `config`.
    ///
    /// # Errors
    /// The folder is in use or unreadable, or the name is malformed or taken.
    pub fn run(&self, config: &Config, out: &mut dyn Write) -> anyhow::Result<()> {
        let (data, prefix) = (&config.data_dir, &config.auth.key_prefix);
        match self {
            Self::Add { name } => with_identity(data, prefix, false, async |identity| {
                let added = add(identity, name, out).await;
                added.context("add the organisation")
            })?,
            Self::List => with_identity(data, prefix, false, async |identity| {
                list(identity, out).await.context("list the organisations")
            })?,
            Self::Trust(verb) => with_store(data, async |store| {
                verb.run(store, out).await.context("trust refs")
            })?,
        }
    }
}

impl Trust {
    async fn run(&self, store: &Store, out: &mut dyn Write) -> anyhow::Result<()> {
        let name = self.name.clone();
        let Some(org) = store.read(move |s| orgs::by_name(s, &name)).await? else {
            bail!("find the organisation {}; see hostd org list", self.name);
        };
        dispatch::trust(store, &org.id, self.refs.clone()).await?;
        Ok(writeln!(out, "{} trusts {}", self.name, words(&self.refs))?)
    }
}

/// Patterns as a line has them.
fn words(refs: &[String]) -> String {
    match refs {
        [] => "none".to_owned(),
        refs => refs.join(" "),
    }
}

async fn add(identity: &Identity, name: &str, out: &mut dyn Write) -> anyhow::Result<()> {
    match identity.org_add(name).await? {
        Some(org) => Ok(writeln!(out, "{}", org.id)?),
        None => bail!("use the name {name}: there is an organisation with it"),
    }
}

async fn list(identity: &Identity, out: &mut dyn Write) -> anyhow::Result<()> {
    let users = identity.users().await?;
    writeln!(
        out,
        "{:<26}  {:<24}  {:<20}  {:<5}  trusted refs",
        "id", "name", "created", "users"
    )?;
    for org in identity.orgs().await? {
        let members = users.iter().filter(|u| u.org == org.id).count();
        writeln!(
            out,
            "{:<26}  {:<24}  {:<20}  {members:<5}  {}",
            org.id,
            org.name,
            clock::text(org.created_ms),
            words(&org.trusted_refs)
        )?;
    }
    Ok(())
}
