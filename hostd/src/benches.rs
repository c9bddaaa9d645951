//! What the server gives attempts of jobs to drive their devices with: the lab for the steps, and a relay for their
//! programs.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, OnceLock};

use anyhow::Context;
use dispatch::{Benches, Grant, Looking, Opened};
use identity::JobGrant;
use lab::captures::order::{OfJob, Origin};
use lab::devices::{Device, Devices};
use lab::wiring::{self, WIRING};
use rig::{Hold, Lab, Rig, Wiring};
use serde_json::{Map, Value};
use store::Store;
use store::handler_kv::{KvError, Namespace};
use tracing::warn;

use crate::http::relay::Relays;

/// What the key of a job is called among its secrets.
const KEY: &str = "BENCHPOD_API_KEY";

/// The benches of this server.
#[derive(Debug)]
pub struct ServerBenches {
    pub lab: Lab,
    pub store: Store,
    pub devices: Arc<Devices>,
    /// There are relays once requests can be answered; attempts wait for that.
    pub relays: OnceLock<Relays>,
}

impl Benches for ServerBenches {
    fn capabilities<'a>(&'a self, device: &'a Device) -> Looking<'a> {
        Box::pin(async move {
            let record = &device.record;
            let wiring = wiring(&self.store, &record.org, &record.id).await;
            let wiring = wiring.unwrap_or_else(|error| {
                warn!(device = record.id, %error, "failed to read what a device is wired to");
                Wiring::default()
            });
            rig::capabilities(device, &wiring)
        })
    }

    fn bench(&self, grant: &Grant) -> io::Result<Opened> {
        let device = self.devices.get(&grant.org, &grant.device);
        let device = device.ok_or(io::ErrorKind::NotFound)?;
        let snapshot = self.store.snapshot().map_err(io::Error::other)?;
        let profile = wiring::profile(&snapshot, &grant.org, &grant.device);
        let profile = profile.map_err(io::Error::other)?;
        let relay = self.relays.wait().open(job_grant(grant));
        let relay = relay.map_err(io::Error::other)?;
        let secret = relay.secret().expose().to_owned();
        let secrets = BTreeMap::from([(KEY.to_owned(), secret)]);
        let words = relay.words().clone();
        let environment: BTreeMap<String, String> = relay.variables().into_iter().collect();
        let hold = Hold {
            org: grant.org.clone(),
            of: Some(OfJob {
                job: grant.job.clone(),
                origin: Origin {
                    run: grant.run.clone(),
                    attempt: grant.attempt,
                    step: None,
                },
            }),
            device: grant.device.clone(),
            name: device.record.name,
            lease_id: grant.lease_id.clone(),
            owner: grant.lease_owner.clone(),
            wiring: Wiring::of(&profile),
            relay: Some(jobs::Relay {
                socket: relay.socket().to_owned(),
                environment,
            }),
        };
        Ok(Opened {
            bench: Box::new(Rig::new(self.lab.clone(), hold)),
            guard: Box::new(relay),
            secrets,
            words,
        })
    }
}

/// What a device of an organisation is wired to.
///
/// # Errors
/// The storage failed.
pub async fn wiring(store: &Store, org: &str, device: &str) -> Result<Wiring, KvError> {
    Ok(Wiring::of(&wiring::current(store, org, device).await?))
}

/// Keeps what a device of an organisation is wired to, unless something is kept of it.
///
/// # Errors
/// The storage failed.
pub(crate) async fn wire(
    store: &Store,
    org: &str,
    device: &str,
    wiring: &Map<String, Value>,
) -> anyhow::Result<()> {
    let (group, prefix) = WIRING;
    let wiring = serde_json::to_vec(wiring).context("write the wiring")?;
    let (space, key) = (Namespace::new(group, org), format!("{prefix}{device}"));
    let kept = store.kv_compare_and_set(&space, &key, None, Some(wiring));
    match kept.await {
        Ok(_) | Err(KvError::Conflict { .. }) => Ok(()),
        Err(error) => Err(error).context("keep the wiring"),
    }
}

fn job_grant(grant: &Grant) -> JobGrant {
    JobGrant {
        org: grant.org.clone(),
        user: grant.user.clone(),
        job: grant.job.clone(),
        run: grant.run.clone(),
        attempt: grant.attempt,
        device: grant.device.clone(),
        lease_id: grant.lease_id.clone(),
        lease_owner: grant.lease_owner.clone(),
    }
}
