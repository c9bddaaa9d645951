//! `hostd secret set | list | remove`.

use std::fmt::Write as _;
use std::io::{BufRead, Read, Write};

use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use serde::{Deserialize, Serialize};

use crate::operator::{self, Desk, Hidden, Order as OperatorOrder};
use base::clock;
use base::config::Config;
use store::Store;
use store::orgs::{self, Org};
use vault::{NewSecret, State, VALUE_BYTES, Vault, Writer};

/// Who is told to have written what the command line writes.
const BY: &str = "command line";

/// Secrets of organisations for their jobs, by the server that runs on the data folder, or here while none runs.
#[derive(Debug, Subcommand)]
pub enum SecretCommand {
    /// Write a secret; its value is read from standard input
    ///
    /// If the value is a single line, the end of that line is no part of it.
    Set(Set),
    /// List the secrets, without their values
    List,
    /// Remove a secret
    Remove(Named),
}

#[derive(Debug, Args, Serialize, Deserialize)]
pub struct Set {
    #[command(flatten)]
    named: Named,
    /// Pattern of branches or tags whose jobs may have it; may be given several times. Without it a secret that is there
    /// keeps its own
    #[arg(long = "ref", value_name = "PATTERN")]
    refs: Vec<String>,
    /// Jobs of all branches and tags may have it
    #[arg(long, conflicts_with = "refs")]
    all_refs: bool,
}

#[derive(Debug, Args, Serialize, Deserialize)]
pub struct Named {
    /// Name of the secret: capital letters, digits and _
    name: String,
    /// Name of the organisation
    #[arg(long, default_value = "default", value_name = "NAME")]
    org: String,
}

/// What is ordered about secrets, with the value that was read.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    Set(Set, Hidden),
    List,
    Remove(Named),
}

impl SecretCommand {
    /// Do what the command line says, on the data folder of `config`. A value comes from standard
    /// input.
    ///
    /// # Errors
    /// The folder has no store or cannot be used, or the command asks for what is not there.
    pub fn run(self, config: &Config, out: &mut dyn Write) -> anyhow::Result<()> {
        self.run_with(config, &mut std::io::stdin().lock(), out)
    }

    /// As [`SecretCommand::run`], with the value from `input`.
    ///
    /// # Errors
    /// As [`SecretCommand::run`].
    pub(crate) fn run_with(
        self,
        config: &Config,
        input: &mut dyn BufRead,
        out: &mut dyn Write,
    ) -> anyhow::Result<()> {
        let order = match self {
            Self::Set(verb) => {
                let value = value(input).context("set the secret")?;
                Order::Set(verb, Hidden::new(value))
            }
            Self::List => Order::List,
            Self::Remove(named) => Order::Remove(named),
        };
        operator::run(config, &OperatorOrder::Secret(order), out)
    }
}

impl Order {
    pub(crate) async fn carry_out(&self, desk: &Desk<'_>, out: &mut String) -> anyhow::Result<()> {
        let (store, vault) = (desk.store, desk.vault);
        match self {
            Self::Set(verb, value) => {
                let set = verb.run(store, vault, value, out).await;
                set.context("set the secret")
            }
            Self::List => list(store, vault, out).await.context("list the secrets"),
            Self::Remove(named) => {
                let removed = named.remove(store, vault, out).await;
                removed.context("remove the secret")
            }
        }
    }
}

impl Set {
    async fn run(
        &self,
        store: &Store,
        vault: &Vault,
        value: &Hidden,
        out: &mut String,
    ) -> anyhow::Result<()> {
        let by = self.named.writer(store).await?;
        let refs = match self.refs.as_slice() {
            [] => self.all_refs.then(Vec::new),
            refs => Some(refs.to_vec()),
        };
        let new = NewSecret {
            name: self.named.name.clone(),
            value: value.expose().to_owned(),
            refs,
        };
        let (shown, is_new) = vault.put(&by, new).await?;
        let word = if is_new { "written" } else { "replaced" };
        Ok(writeln!(out, "{} is {word}", shown.name)?)
    }
}

impl Named {
    async fn remove(&self, store: &Store, vault: &Vault, out: &mut String) -> anyhow::Result<()> {
        let by = self.writer(store).await?;
        vault.remove(&by, &self.name).await?;
        Ok(writeln!(out, "removed {}", self.name)?)
    }

    async fn writer(&self, store: &Store) -> anyhow::Result<Writer> {
        let name = self.org.clone();
        let Some(org) = store.read(move |s| orgs::by_name(s, &name)).await? else {
            bail!("find the organisation {}; see hostd org list", self.org);
        };
        Ok(Writer {
            org: org.id,
            user: BY.to_owned(),
        })
    }
}

/// All of the input; of a single line, without its end.
pub(super) fn value(input: &mut dyn BufRead) -> anyhow::Result<String> {
    // A little over the limit, so that a longer one is refused, not truncated.
    let bytes_max = *VALUE_BYTES.end() as u64 + 3;
    let mut bytes = Vec::new();
    input
        .take(bytes_max)
        .read_to_end(&mut bytes)
        .context("read the value")?;
    // The error has the bytes in it.
    let Ok(mut text) = String::from_utf8(bytes) else {
        bail!("take a value that is not UTF-8; encode it, as with base64");
    };
    if text.find('\n') == Some(text.len().saturating_sub(1)) {
        text.truncate(text.trim_end_matches(['\r', '\n']).len());
    }
    Ok(text)
}

async fn list(store: &Store, vault: &Vault, out: &mut String) -> anyhow::Result<()> {
    writeln!(
        out,
        "{:<16}  {:<32}  {:<9}  {:<20}  refs",
        "organisation", "name", "state", "updated"
    )?;
    for Org { id, name: org, .. } in store.read(orgs::all).await? {
        for secret in vault.list(&id).await? {
            let state = match secret.state {
                State::Ready => "ready",
                State::NoKey => "no key",
                State::OtherKey => "other key",
                State::Damaged => "damaged",
            };
            let refs = match secret.refs.as_slice() {
                [] => "all".to_owned(),
                refs => refs.join(" "),
            };
            writeln!(
                out,
                "{org:<16}  {:<32}  {state:<9}  {:<20}  {refs}",
                secret.name,
                clock::text(secret.updated_ms),
            )?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
