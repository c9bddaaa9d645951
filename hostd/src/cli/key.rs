//! `hostd key create | list | revoke`, while the server is stopped.

use std::io::Write;

use anyhow::{Context, bail};
use clap::{Args, Subcommand};

use base::clock;
use base::config::Config;
use identity::Identity;
use identity::offline::with_identity;

/// Seconds of a day, for `--days`.
const DAY_S: u64 = 24 * 3600;

/// API keys, while the server is stopped.
#[derive(Debug, Subcommand)]
pub enum KeyCommand {
    /// Make a key and print it; it is not shown again
    Create(Create),
    /// List the keys
    List,
    /// Revoke a key and the session tokens made from it
    Revoke(Revoke),
}

#[derive(Debug, Args)]
pub struct Create {
    /// Login of the user that the key acts for
    #[arg(long, default_value = "owner", value_name = "LOGIN")]
    user: String,
    /// What the key is for
    #[arg(long, default_value = "command line", value_name = "TEXT")]
    name: String,
    /// jobs:submit, bench:control, emi:analyze or bench:admin; repeat for several
    #[arg(long = "scope", default_values = ["bench:control", "jobs:submit"], value_name = "SCOPE")]
    scopes: Vec<String>,
    /// Days until it expires; without it the key does not expire
    #[arg(long, value_name = "DAYS")]
    days: Option<u32>,
}

#[derive(Debug, Args)]
pub struct Revoke {
    /// Key id: the middle part of the key
    kid: String,
}

impl KeyCommand {
    /// Do what the command line says, on the data folder of `config`.
    ///
    /// # Errors
    /// The folder is in use or unreadable, or the command asks for what is not there.
    pub fn run(&self, config: &Config, out: &mut dyn Write) -> anyhow::Result<()> {
        let create = matches!(self, Self::Create(_));
        with_identity(
            &config.data_dir,
            &config.auth.key_prefix,
            create,
            async |identity| match self {
                Self::Create(verb) => verb.run(identity, out).await.context("create the key"),
                Self::List => list(identity, out).await.context("list the keys"),
                Self::Revoke(verb) => verb.run(identity, out).await.context("revoke the key"),
            },
        )?
    }
}

impl Create {
    async fn run(&self, identity: &Identity, out: &mut dyn Write) -> anyhow::Result<()> {
        let Some(user) = identity.user_by_login(&self.user).await? else {
            bail!("there is no user {}; see hostd user list", self.user);
        };
        let ttl_s = self.days.map(|days| u64::from(days) * DAY_S);
        let created = identity
            .key_create_for(&user, &self.name, &self.scopes, ttl_s)
            .await?;
        writeln!(out, "{}", created.secret.expose())?;
        Ok(())
    }
}

impl Revoke {
    async fn run(&self, identity: &Identity, out: &mut dyn Write) -> anyhow::Result<()> {
        identity.revoke(&self.kid).await?;
        writeln!(out, "revoked {}", self.kid)?;
        Ok(())
    }
}

async fn list(identity: &Identity, out: &mut dyn Write) -> anyhow::Result<()> {
    let users = identity.users().await?;
    let when = |at: Option<u64>| at.map_or_else(|| "never".to_owned(), clock::text);
    writeln!(
        out,
        "{:<12}  {:<16}  {:<20}  {:<20}  {:<20}  {:<24}  scopes",
        "kid", "user", "created", "last used", "expires", "name"
    )?;
    for key in identity.all_keys() {
        let user = users.iter().find(|u| u.id == key.owner);
        writeln!(
            out,
            "{:<12}  {:<16}  {:<20}  {:<20}  {:<20}  {:<24}  {}",
            key.kid,
            user.map_or("?", |u| u.login.as_str()),
            clock::text(key.created_at_ms),
            when(key.last_used_at_ms),
            when(key.expires_at_ms),
            key.name,
            key.scopes.join(" ")
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
