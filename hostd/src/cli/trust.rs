//! `hostd trust add | list | remove`.

use std::fmt::Write as _;
use std::io::Write;

use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use serde::{Deserialize, Serialize};

use crate::operator::{self, Desk, Order};
use base::config::Config;
use identity::{Identity, NewRule, TTL_S_DEFAULT};

/// Trust rules for CI runs, by the server that runs on the data folder, or here while none runs.
#[derive(Debug, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrustCommand {
    /// Let the CI runs of a repository in, to every device of the organisation
    Add(Add),
    /// List the rules
    List,
    /// Remove a rule; what it let in is out
    Remove {
        /// Id of the rule
        id: String,
    },
}

#[derive(Debug, Args, Serialize, Deserialize)]
pub struct Add {
    /// owner/name, or owner/* for all of an owner's repositories
    repository: String,
    /// Full ref such as refs/heads/main, where * stands for anything
    #[arg(long = "ref", value_name = "PATTERN")]
    reference: Option<String>,
    /// Deployment environment that the run must name
    #[arg(long, value_name = "NAME")]
    environment: Option<String>,
    /// Life of the session tokens, in seconds
    #[arg(long, default_value_t = TTL_S_DEFAULT, value_name = "SECONDS")]
    ttl_seconds: u32,
    /// Admin or owner for whom the runs act; gives the organisation
    #[arg(long, default_value = "owner", value_name = "LOGIN")]
    user: String,
}

impl TrustCommand {
    /// Do what the command line says, on the data folder of `config`.
    ///
    /// # Errors
    /// The folder has no store or cannot be used, or the command asks for what is not there.
    pub fn run(self, config: &Config, out: &mut dyn Write) -> anyhow::Result<()> {
        operator::run(config, &Order::Trust(self), out)
    }

    pub(crate) async fn carry_out(&self, desk: &Desk<'_>, out: &mut String) -> anyhow::Result<()> {
        let identity = desk.identity;
        match self {
            Self::Add(verb) => verb.run(identity, out).await.context("add the rule"),
            Self::List => list(identity, out).await.context("list the rules"),
            Self::Remove { id } => remove(identity, id, out).await.context("remove the rule"),
        }
    }
}

impl Add {
    async fn run(&self, identity: &Identity, out: &mut String) -> anyhow::Result<()> {
        let Some(user) = identity.user_by_login(&self.user).await? else {
            bail!("find the user {}; see hostd user list", self.user);
        };
        let new = NewRule {
            repository: self.repository.clone(),
            r#ref: self.reference.clone(),
            environment: self.environment.clone(),
            devices: None,
            ttl_s: self.ttl_seconds,
        };
        let rule = identity.rule_add_for(&user, new).await?;
        Ok(writeln!(out, "{}", rule.id)?)
    }
}

async fn list(identity: &Identity, out: &mut String) -> anyhow::Result<()> {
    let orgs = identity.orgs().await?;
    writeln!(
        out,
        "{:<26}  {:<16}  {:<8}  {:<32}  {:<32}  environment",
        "id", "organisation", "state", "repository", "ref"
    )?;
    for rule in identity.all_rules() {
        let org = orgs.iter().find(|o| o.id == rule.org);
        writeln!(
            out,
            "{:<26}  {:<16}  {:<8}  {:<32}  {:<32}  {}",
            rule.id,
            org.map_or("?", |o| o.name.as_str()),
            if rule.enabled { "enabled" } else { "disabled" },
            rule.repository,
            rule.r#ref.as_deref().unwrap_or("*"),
            rule.environment.as_deref().unwrap_or("*")
        )?;
    }
    Ok(())
}

async fn remove(identity: &Identity, id: &str, out: &mut String) -> anyhow::Result<()> {
    if !identity.all_rules().iter().any(|rule| rule.id == id) {
        bail!("find the rule {id}; see hostd trust list");
    }
    identity.drop_rule(id).await?;
    Ok(writeln!(out, "removed {id}")?)
}
