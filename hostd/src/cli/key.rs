//! `hostd key create | list | revoke`.

use std::fmt::Write as _;
use std::io::Write;

use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use serde::{Deserialize, Serialize};

use crate::operator::{self, Desk, Order};
use base::clock;
use base::config::Config;
use identity::Identity;

/// Seconds of a day, for `--days`.
const DAY_S: u64 = 24 * 3600;

/// API keys, by the server that runs on the data folder, or here while none runs.
#[derive(Debug, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyCommand {
    /// Make a key and print it; it is not shown again
    Create(Create),
    /// List the keys
    List,
    /// Revoke a key and the session tokens made from it
    Revoke(Revoke),
}

#[derive(Debug, Args, Serialize, Deserialize)]
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

#[derive(Debug, Args, Serialize, Deserialize)]
pub struct Revoke {
    /// Key id: the middle part of the key
    kid: String,
}

impl KeyCommand {
    /// Do what the command line says, on the data folder of `config`.
    ///
    /// # Errors
    /// The folder has no store or cannot be used, or the command asks for what is not there.
    pub fn run(self, config: &Config, out: &mut dyn Write) -> anyhow::Result<()> {
        operator::run(config, &Order::Key(self), out)
    }

    pub(crate) async fn carry_out(&self, desk: &Desk<'_>, out: &mut String) -> anyhow::Result<()> {
        let identity = desk.identity;
        match self {
            Self::Create(verb) => verb.run(identity, out).await.context("create the key"),
            Self::List => list(identity, out).await.context("list the keys"),
            Self::Revoke(verb) => verb.run(identity, out).await.context("revoke the key"),
        }
    }
}

impl Create {
    async fn run(&self, identity: &Identity, out: &mut String) -> anyhow::Result<()> {
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
    async fn run(&self, identity: &Identity, out: &mut String) -> anyhow::Result<()> {
        identity.revoke(&self.kid).await?;
        writeln!(out, "revoked {}", self.kid)?;
        Ok(())
    }
}

async fn list(identity: &Identity, out: &mut String) -> anyhow::Result<()> {
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
