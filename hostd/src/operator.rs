//! Orders about keys, people, organisations, trust, secrets and devices that need no credential, since they are given by
//! the owner of the data folder: the server that runs there carries them out, or this process while none runs. Both find
//! the same words.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use base::clock::Clock;
use base::config::Config;
use identity::Identity;
use identity::offline::{self, OfflineError};
use lab::leases::Leases;
use lab::updates::Updates;
use serde::{Deserialize, Serialize};
use store::{Store, StoreError};
use vault::Vault;

use crate::admin;
use crate::cli::device::Order as DeviceOrder;
use crate::cli::key::KeyCommand;
use crate::cli::org::OrgCommand;
use crate::cli::secret::Order as SecretOrder;
use crate::cli::trust::TrustCommand;
use crate::cli::user::Order as UserOrder;
use crate::services::Services;

/// Longest wait for a server that starts or ends: it has the store, and its socket not yet or no longer.
pub(crate) const TURN_WAIT: Duration = Duration::from_secs(5);

/// Pause between two looks for its socket, or for its end.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// What is ordered.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    Key(KeyCommand),
    User(UserOrder),
    Org(OrgCommand),
    Trust(TrustCommand),
    Secret(SecretOrder),
    Device(DeviceOrder),
}

/// A password, or the value of a secret: `Debug` does not show it.
#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Hidden(String);

impl Hidden {
    #[must_use]
    pub fn new(text: String) -> Self {
        Self(text)
    }

    /// The text, for what keeps it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Hidden {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("[redacted]")
    }
}

/// What orders work with.
#[derive(Debug)]
pub struct Desk<'a> {
    pub store: &'a Store,
    pub identity: &'a Identity,
    pub vault: &'a Vault,
    /// The devices of the server that runs; none: no server runs.
    pub bench: Option<Bench<'a>>,
}

/// Devices that somebody may be using.
#[derive(Debug)]
pub struct Bench<'a> {
    pub leases: &'a Arc<Leases>,
    pub updates: &'a Updates,
}

impl<'a> Desk<'a> {
    /// That of a running server.
    #[must_use]
    pub fn of(services: &'a Services) -> Self {
        Self {
            store: &services.store,
            identity: &services.auth,
            vault: &services.vault,
            bench: Some(Bench {
                leases: &services.leases,
                updates: &services.updates,
            }),
        }
    }
}

impl Order {
    /// Do it. What is printed of it.
    ///
    /// # Errors
    /// It asks for what is not there or may not be, or the store failed.
    pub async fn carry_out(&self, desk: &Desk<'_>) -> anyhow::Result<String> {
        let mut out = String::new();
        match self {
            Self::Key(order) => order.carry_out(desk, &mut out).await,
            Self::User(order) => order.carry_out(desk, &mut out).await,
            Self::Org(order) => order.carry_out(desk, &mut out).await,
            Self::Trust(order) => order.carry_out(desk, &mut out).await,
            Self::Secret(order) => order.carry_out(desk, &mut out).await,
            Self::Device(order) => order.carry_out(desk, &mut out).await,
        }?;
        Ok(out)
    }

    /// Which kind of order it is, for the log.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Key(_) => "key",
            Self::User(_) => "user",
            Self::Org(_) => "org",
            Self::Trust(_) => "trust",
            Self::Secret(_) => "secret",
            Self::Device(_) => "device",
        }
    }
}

/// Have an order carried out on the data folder of `config`, and print what comes of it. The folder is named on standard
/// error, so that standard output holds the same whatever the folder.
///
/// # Errors
/// The folder has no store or belongs to another user, or the order is refused.
pub fn run(config: &Config, order: &Order, out: &mut dyn Write) -> anyhow::Result<()> {
    let data = &config.data_dir;
    let shown = std::path::absolute(data).unwrap_or_else(|_| data.clone());
    // The order is worth more than this line.
    let _ = writeln!(
        std::io::stderr(),
        "hostd: the data folder is {}",
        shown.display()
    );
    let text = carried_out(data, &config.auth.key_prefix, order, TURN_WAIT)?;
    out.write_all(text.as_bytes()).context("print")
}

/// By the server that runs on `data`, or here. One that starts or ends is waited for.
pub(crate) fn carried_out(
    data: &Path,
    prefix: &str,
    order: &Order,
    wait: Duration,
) -> anyhow::Result<String> {
    let until = Instant::now() + wait;
    loop {
        if let Some(text) = admin::order(data, order)? {
            return Ok(text);
        }
        match here(data, prefix, order) {
            Err(OfflineError::Store(StoreError::Locked { .. })) if Instant::now() < until => {
                thread::sleep(LOOK_EVERY);
            }
            Err(OfflineError::Store(StoreError::Locked { path })) => {
                return Err(anyhow!(
                    "open {}: a process has it that does not answer on {}; end that first",
                    path.display(),
                    admin::NAME
                ));
            }
            done => return done?,
        }
    }
}

/// The outer error: the folder cannot be used; the inner one: the order is refused.
fn here(data: &Path, prefix: &str, order: &Order) -> Result<anyhow::Result<String>, OfflineError> {
    offline::with_store(data, async |store| {
        let clock = Clock::system();
        let identity = Identity::open(store.clone(), clock.clone(), prefix).await?;
        let vault = Vault::new(data, store.clone(), clock);
        let desk = Desk {
            store,
            identity: &identity,
            vault: &vault,
            bench: None,
        };
        Ok(order.carry_out(&desk).await)
    })?
}
