//! `hostd device list | remove | admit`, while the server is stopped, `hostd device scan`, and `hostd device wiring` through a
//! server.

mod scan;
mod wiring;

use std::io::Write;

use anyhow::{Context, bail};
use clap::{Args, Subcommand};

use base::clock;
use base::config::Config;
use identity::offline::with_store;
use lab::devices;
use store::Store;
use store::devices::DeviceRecord;
use store::leases::LeaseRecord;

/// Devices, while the server is stopped.
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
    /// Show or change what the target of a device is wired to, through a running server
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

#[derive(Debug, Args)]
pub struct Remove {
    /// Id or name of the device
    device: String,
    /// Remove it though a lease holds it, or it owes a safe state; its target may stay powered
    #[arg(long = "override")]
    overriding: bool,
}

impl DeviceCommand {
    /// Do what the command line says, on the data folder of `config`.
    ///
    /// # Errors
    /// The folder is in use or unreadable, or the command asks for what is not there.
    pub fn run(&self, config: &Config, out: &mut dyn Write) -> anyhow::Result<()> {
        let data = &config.data_dir;
        match self {
            Self::Scan(verb) => verb.run(config, out),
            Self::Wiring(verb) => verb.run(out),
            Self::List => with_store(data, async |store| {
                list(store, out).await.context("list the devices")
            })?,
            Self::Remove(verb) => with_store(data, async |store| {
                verb.run(store, out).await.context("remove the device")
            })?,
            Self::Admit { device } => with_store(data, async |store| {
                admit(store, device, out).await.context("admit the device")
            })?,
        }
    }
}

impl Remove {
    async fn run(&self, store: &Store, out: &mut dyn Write) -> anyhow::Result<()> {
        let all = store.devices_all().await?;
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
        let leases = store.leases_all().await?;
        if let Some(lease) = leases.iter().find(|lease| lease.device == found.id)
            && !self.overriding
        {
            bail!(
                "{}: start hostd and end that, or remove the device with --override",
                standing(lease)
            );
        }
        store.device_remove(&found.id).await?;
        Ok(writeln!(out, "removed {} ({})", found.name, found.id)?)
    }
}

async fn admit(store: &Store, which: &str, out: &mut dyn Write) -> anyhow::Result<()> {
    let all = store.devices_all().await?;
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
    store.device_restore(&found.id).await?;
    Ok(writeln!(out, "admitted {} ({})", found.name, found.id)?)
}

async fn list(store: &Store, out: &mut dyn Write) -> anyhow::Result<()> {
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
