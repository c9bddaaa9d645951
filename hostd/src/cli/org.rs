//! `hostd org list`, while the server is stopped.

use std::io::Write;

use anyhow::Context;
use clap::Subcommand;

use crate::clock;
use crate::config::Config;
use crate::identity::Identity;
use crate::identity::offline::with_identity;

/// Organisations, while the server is stopped.
#[derive(Debug, Subcommand)]
pub enum OrgCommand {
    /// List the organisations
    List,
}

impl OrgCommand {
    /// Do what the command line says, on the data folder of `config`.
    ///
    /// # Errors
    /// The folder is in use or unreadable.
    pub fn run(&self, config: &Config, out: &mut dyn Write) -> anyhow::Result<()> {
        let Self::List = self;
        with_identity(
            &config.data_dir,
            &config.auth.key_prefix,
            false,
            async |identity| list(identity, out).await.context("list the organisations"),
        )?
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
