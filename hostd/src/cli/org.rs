//! `hostd org add | list`, while the server is stopped.

use std::io::Write;

use anyhow::{Context, bail};
use clap::Subcommand;

use base::clock;
use base::config::Config;
use identity::Identity;
use identity::offline::with_identity;

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
}

impl OrgCommand {
    /// Do what the command line says, on the data folder of `config`.
    ///
    /// # Errors
    /// The folder is in use or unreadable, or the name is malformed or taken.
    pub fn run(&self, config: &Config, out: &mut dyn Write) -> anyhow::Result<()> {
        with_identity(
            &config.data_dir,
            &config.auth.key_prefix,
            false,
            async |identity| match self {
                Self::Add { name } => {
                    let added = add(identity, name, out).await;
                    added.context("add the organisation")
                }
                Self::List => list(identity, out).await.context("list the organisations"),
            },
        )?
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
        "{:<26}  {:<24}  {:<20}  users",
        "id", "name", "created"
    )?;
    for org in identity.orgs().await? {
        let members = users.iter().filter(|u| u.org == org.id).count();
        writeln!(
            out,
            "{:<26}  {:<24}  {:<20}  {members}",
            org.id,
            org.name,
            clock::text(org.created_ms)
        )?;
    }
    Ok(())
}
