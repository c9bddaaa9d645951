//! `hostd device list | remove | admit`, `hostd device scan`, and `hostd device wiring` over the API of a server.

mod scan;
mod wiring;

use std::fmt::Write as _;
use std::io::Write;

use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use serde::{Deserialize, Serialize};

use crate::operator::{self, Bench, Desk, Order as OperatorOrder};
use base::clock;
use base::config::Config;
use lab::devices;
use lab::leases::{LeaseError, Terms};
use store::Store;
use store::devices::DeviceRecord;
use store::leases::LeaseRecord;

/// Devices: what the data folder has, what is plugged in, what targets are wired to.
#[derive(Debug, Subcommand)]
pub enum DeviceCommand {
    /// List the devices, removed ones too, with who holds them and what they owe
    List,
    /// List what is plugged in, as entries for the configuration; the server may run
    ///
    /// Each new pod on USB gets an entry, and the new parts of a bench get one together: a debug probe, a serial
    /// port, a USBTMC supply, an fx2lafw analyzer. Where there are two of a kind, nobody can see which belongs to which
    /// target: both are left out, and shown with the table that uses them, as are hubs that switch their ports. Beside a
    /// bench of parts that is configured, another one begins with a new probe.
    ///
    /// What the configuration has already (--config, or the file of --write) is left out.
    Scan(scan::Scan),
    /// Show or change what the target of a device is wired to, over the API of a server
    ///
    /// The API key is taken from the environment variable HOSTD_KEY, and nowhere else.
    Wiring(wiring::Wiring),
    /// Remove a device; a pod that is still configured stays away
    Remove(Remove),
    /// Admit a removed device again, as it was
    Admit {
        /// Its id; or its name or the address of its pod, which mean the one that was made last
        device: String,
    },
}

#[derive(Debug, Args, Serialize, Deserialize)]
pub struct Remove {
    /// Id or name of the device
    device: String,
    /// Remove it though a lease holds it, or it owes a safe state; its target may stay powered
    #[arg(long = "override")]
    overriding: bool,
}

/// What is ordered about the devices of the data folder.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    List,
    Remove(Remove),
    Admit(String),
}

impl DeviceCommand {
    /// Do what the command line says, on the data folder of `config`.
    ///
    /// # Errors
    /// The folder has no store or cannot be used, or the command asks for what is not there.
    pub fn run(self, config: &Config, out: &mut dyn Write) -> anyhow::Result<()> {
        let order = match self {
            Self::Scan(verb) => return verb.run(config, out),
            Self::Wiring(verb) => return verb.run(out),
            Self::List => Order::List,
            Self::Remove(verb) => Order::Remove(verb),
            Self::Admit { device } => Order::Admit(device),
        };
        operator::run(config, &OperatorOrder::Device(order), out)
    }
}

impl Order {
    pub(crate) async fn carry_out(&self, desk: &Desk<'_>, out: &mut String) -> anyhow::Result<()> {
        match self {
            Self::List => list(desk.store, out).await.context("list the devices"),
            Self::Remove(verb) => verb.run(desk, out).await.context("remove the device"),
            Self::Admit(device) => admit(desk, device, out).await.context("admit the device"),
        }
    }
}

impl Remove {
    async fn run(&self, desk: &Desk<'_>, out: &mut String) -> anyhow::Result<()> {
        let all = desk.store.devices_all().await?;
        let mut live = all.iter().filter(|r| !r.removed);
        let is_it = |r: &&DeviceRecord| r.id == self.device || r.name == self.device;
        let Some(found) = live.find(is_it) else {
            bail!("find the device {}; see hostd device list", self.device);
        };
        if live.any(|r| is_it(&r)) {
            bail!(
                "devices of several organisations are named {}; give the id",
                self.device
            );
        }
        let leases = desk.store.leases_all().await?;
        if let Some(lease) = leases.iter().find(|lease| lease.device == found.id)
            && !self.overriding
        {
            bail!(
                "{}: end that while hostd runs, or remove the device with --override",
                standing(lease)
            );
        }
        match &desk.bench {
            Some(bench) => self.remove_from(bench, &found.id).await?,
            None => drop(desk.store.device_remove(&found.id).await?),
        }
        Ok(writeln!(out, "removed {} ({})", found.name, found.id)?)
    }

    /// From the bench of a running server, where it is made safe first.
    async fn remove_from(&self, bench: &Bench<'_>, id: &str) -> anyhow::Result<()> {
        let holder = bench.leases.holder(id).map(|(holder, _)| holder);
        let terms = Terms {
            holder: holder.filter(|_| self.overriding),
            overriding: self.overriding,
        };
        match bench.leases.remove(id, terms).await {
            Ok(()) => {}
            Err(LeaseError::Busy(busy)) => bail!(
                "{}: end that, or remove the device with --override",
                match busy.holder {
                    Some(holder) => format!("{holder} holds it"),
                    None => "it is not in its safe state yet".to_owned(),
                }
            ),
            Err(error) => return Err(error.into()),
        }
        bench.updates.forget(id).await;
        Ok(())
    }
}

async fn admit(desk: &Desk<'_>, which: &str, out: &mut String) -> anyhow::Result<()> {
    let all = desk.store.devices_all().await?;
    let mut orgs: Vec<&str> = all.iter().map(|r| r.org.as_str()).collect();
    orgs.sort_unstable();
    orgs.dedup();
    let found: Vec<&DeviceRecord> = orgs
        .iter()
        .filter_map(|org| devices::removed(&all, org, which))
        .collect();
    let found = match found[..] {
        [] => bail!("find the removed device {which}; see hostd device list"),
        [found] => found,
        _ => bail!("devices of several organisations are meant by {which}; give the id"),
    };
    let is_twin =
        |r: &&DeviceRecord| !r.removed && r.org == found.org && r.address == found.address;
    if let Some(twin) = all.iter().find(is_twin) {
        bail!(
            "its pod belongs to the device {} now; remove that first",
            twin.name
        );
    }
    match &desk.bench {
        Some(bench) => {
            let admitted = bench.leases.admit_again(&found.org, &found.id).await;
            admitted.map(drop)?;
        }
        None => drop(desk.store.device_restore(&found.id).await?),
    }
    Ok(writeln!(out, "admitted {} ({})", found.name, found.id)?)
}

async fn list(store: &Store, out: &mut String) -> anyhow::Result<()> {
    let leases = store.leases_all().await?;
    writeln!(
        out,
        "{:<26}  {:<24}  {:<32}  {:<20}  state",
        "id", "name", "address", "last active"
    )?;
    for device in store.devices_all().await? {
        let lease = leases.iter().find(|lease| lease.device == device.id);
        let state = match lease {
            _ if device.removed => "removed".to_owned(),
            Some(lease) => standing(lease),
            None => "free".to_owned(),
        };
        let active = device.last_active_ms;
        writeln!(
            out,
            "{:<26}  {:<24}  {:<32}  {:<20}  {state}",
            device.id,
            device.name,
            device.address,
            active.map_or_else(|| "never".to_owned(), clock::text)
        )?;
    }
    Ok(())
}

/// What the store says about a device that is not free.
fn standing(lease: &LeaseRecord) -> String {
    match &lease.owes {
        Some(owes) => {
            let since = clock::text(owes.since_ms);
            format!("it owes a safe state since {since} ({})", owes.why)
        }
        None => {
            let until = clock::text(lease.expires_ms);
            format!("{} holds it until {until}", lease.holder)
        }
    }
}

#[cfg(test)]
mod tests;
