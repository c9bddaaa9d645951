//! `hostd org add | list | trust`.

use std::fmt::Write as _;
use std::io::Write;

use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use serde::{Deserialize, Serialize};

use crate::operator::{self, Desk, Order};
use base::clock;
use base::config::Config;
use identity::Identity;
use store::{Store, orgs};

/// Organisations, by the server that runs on the data folder, or here while none runs.
#[derive(Debug, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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

#[derive(Debug, Args, Serialize, Deserialize)]
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
    /// The folder has no store or cannot be used, or the name is malformed or taken.
    pub fn run(self, config: &Config, out: &mut dyn Write) -> anyhow::Result<()> {
        operator::run(config, &Order::Org(self), out)
    }

    pub(crate) async fn carry_out(&self, desk: &Desk<'_>, out: &mut String) -> anyhow::Result<()> {
        let identity = desk.identity;
        match self {
            Self::Add { name } => {
                let added = add(identity, name, out).await;
                added.context("add the organisation")
            }
            Self::List => list(identity, out).await.context("list the organisations"),
            Self::Trust(verb) => verb.run(desk.store, out).await.context("trust refs"),
        }
    }
}

impl Trust {
    async fn run(&self, store: &Store, out: &mut String) -> anyhow::Result<()> {
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

async fn add(identity: &Identity, name: &str, out: &mut String) -> anyhow::Result<()> {
    match identity.org_add(name).await? {
        Some(org) => Ok(writeln!(out, "{}", org.id)?),
        None => bail!("use the name {name}: there is an organisation with it"),
    }
}

async fn list(identity: &Identity, out: &mut String) -> anyhow::Result<()> {
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
