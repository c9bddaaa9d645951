//! `hostd user add | list | password | code | disable | enable`.

use std::fmt::Write as _;
use std::io::{BufRead, Read, Write};

use anyhow::{Context, bail};
use clap::{Args, Subcommand, ValueEnum};
use serde::{Deserialize, Serialize};

use crate::operator::{self, Desk, Hidden, Order as OperatorOrder};
use base::clock;
use base::config::Config;
use identity::{CODE_TTL_S, Identity, PASSWORD_CHARS};
use store::users::{Role, User};

/// Users, by the server that runs on the data folder, or here while none runs.
#[derive(Debug, Subcommand)]
pub enum UserCommand {
    /// Add a user and print a one-time sign-in code
    Add(Add),
    /// List the users
    List,
    /// Set a password, read from standard input; the user's sessions end
    Password(Named),
    /// Print a one-time sign-in code
    Code(Named),
    /// Shut a user out, with its keys and sessions
    Disable(Named),
    /// Let a user in again
    Enable(Named),
}

#[derive(Debug, Args, Serialize, Deserialize)]
pub struct Add {
    /// Name to sign in with
    login: String,
    /// What the user may do
    #[arg(long, value_enum, default_value = "member")]
    role: RoleName,
    /// Name of the organisation
    #[arg(long, default_value = "default", value_name = "NAME")]
    org: String,
}

#[derive(Debug, Args, Serialize, Deserialize)]
pub struct Named {
    /// Name that the user signs in with
    login: String,
}

#[derive(Debug, Clone, Copy, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum RoleName {
    Member,
    Admin,
    Owner,
}

/// What is ordered about users, with the password that was read.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    Add(Add),
    List,
    Password(Named, Hidden),
    Code(Named),
    Disable(Named),
    Enable(Named),
}

impl UserCommand {
    /// Do what the command line says, on the data folder of `config`. A password comes from
    /// standard input.
    ///
    /// # Errors
    /// The folder has no store or cannot be used, or the command asks for what is not there.
    pub fn run(self, config: &Config, out: &mut dyn Write) -> anyhow::Result<()> {
        self.run_with(config, &mut std::io::stdin().lock(), out)
    }

    /// As [`UserCommand::run`], with the password from `input`.
    ///
    /// # Errors
    /// As [`UserCommand::run`].
    pub(crate) fn run_with(
        self,
        config: &Config,
        input: &mut dyn BufRead,
        out: &mut dyn Write,
    ) -> anyhow::Result<()> {
        let order = match self {
            Self::Add(verb) => Order::Add(verb),
            Self::List => Order::List,
            Self::Password(named) => {
                let read = read_password(&named, input, out);
                let password = read.context("read the password")?;
                Order::Password(named, password)
            }
            Self::Code(named) => Order::Code(named),
            Self::Disable(named) => Order::Disable(named),
            Self::Enable(named) => Order::Enable(named),
        };
        operator::run(config, &OperatorOrder::User(order), out)
    }
}

impl Order {
    pub(crate) async fn carry_out(&self, desk: &Desk<'_>, out: &mut String) -> anyhow::Result<()> {
        let identity = desk.identity;
        match self {
            Self::Add(verb) => verb.run(identity, out).await.context("add the user"),
            Self::List => list(identity, out).await.context("list the users"),
            Self::Password(named, password) => {
                let set = set_password(identity, named, password, out).await;
                set.context("set the password")
            }
            Self::Code(named) => {
                let user = named.find(identity).await?;
                print_code(identity, &user, out)
                    .await
                    .context("make a code")
            }
            Self::Disable(named) => {
                let disabled = set_disabled(identity, named, true, out).await;
                disabled.context("disable the user")
            }
            Self::Enable(named) => {
                let enabled = set_disabled(identity, named, false, out).await;
                enabled.context("enable the user")
            }
        }
    }
}

impl Add {
    async fn run(&self, identity: &Identity, out: &mut String) -> anyhow::Result<()> {
        let role = match self.role {
            RoleName::Member => Role::Member,
            RoleName::Admin => Role::Admin,
            RoleName::Owner => Role::Owner,
        };
        let user = identity.user_add(&self.org, &self.login, role).await?;
        print_code(identity, &user, out).await
    }
}

impl Named {
    async fn find(&self, identity: &Identity) -> anyhow::Result<User> {
        match identity.user_by_login(&self.login).await? {
            Some(user) => Ok(user),
            None => bail!("find the user {}; see hostd user list", self.login),
        }
    }
}

async fn print_code(identity: &Identity, user: &User, out: &mut String) -> anyhow::Result<()> {
    let code = identity.issue_code(&user.id).await?;
    let minutes = CODE_TTL_S / 60;
    writeln!(
        out,
        "{}\n(signs in {} once, within {minutes} minutes)",
        code.expose(),
        user.login
    )?;
    Ok(())
}

fn read_password(
    named: &Named,
    input: &mut dyn BufRead,
    out: &mut dyn Write,
) -> anyhow::Result<Hidden> {
    writeln!(
        out,
        "new password for {} (one line on standard input):",
        named.login
    )?;
    out.flush()?;
    let mut line = String::new();
    // A little over the limit, so that a longer one is refused, not truncated.
    let bytes_max = *PASSWORD_CHARS.end() as u64 * 4 + 3;
    input.take(bytes_max).read_line(&mut line)?;
    let password = line.strip_suffix('\n').unwrap_or(&line);
    let password = password.strip_suffix('\r').unwrap_or(password);
    Ok(Hidden::new(password.to_owned()))
}

async fn set_password(
    identity: &Identity,
    named: &Named,
    password: &Hidden,
    out: &mut String,
) -> anyhow::Result<()> {
    let user = named.find(identity).await?;
    identity
        .user_set_password(&user.id, password.expose())
        .await?;
    writeln!(out, "the password of {} is set", user.login)?;
    Ok(())
}

async fn set_disabled(
    identity: &Identity,
    named: &Named,
    disabled: bool,
    out: &mut String,
) -> anyhow::Result<()> {
    let user = named.find(identity).await?;
    identity.user_set_disabled(&user.id, disabled).await?;
    let word = if disabled { "disabled" } else { "enabled" };
    writeln!(out, "{} is {word}", user.login)?;
    Ok(())
}

async fn list(identity: &Identity, out: &mut String) -> anyhow::Result<()> {
    let orgs = identity.orgs().await?;
    writeln!(
        out,
        "{:<26}  {:<16}  {:<6}  {:<16}  {:<8}  last sign-in",
        "id", "login", "role", "organisation", "state"
    )?;
    for user in identity.users().await? {
        let org = orgs.iter().find(|o| o.id == user.org);
        writeln!(
            out,
            "{:<26}  {:<16}  {:<6}  {:<16}  {:<8}  {}",
            user.id,
            user.login,
            user.role.as_str(),
            org.map_or("?", |o| o.name.as_str()),
            if user.disabled { "disabled" } else { "active" },
            user.signed_in_ms
                .map_or_else(|| "never".to_owned(), clock::text)
        )?;
    }
    Ok(())
}
