//! A bench in this process, for `hostd run`: the lab, the leases and the handlers of a server, on a folder that goes
//! when it ends. Nobody else reaches it: the only sockets are those of relays, which the jails of its runs have.
//!
//! ```text
//! run of a bench ── take ── Held: lease ── Rig ── lab ── simulated pod, or the one that was named
//!                                 └─ relay ── handlers, for the run's own programs
//! ```

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context;
use base::config::Config;
use base::id;
use dispatch::{Benches as _, Grant};
use jobs::{Breakage, Cancel, CaptureFile, Job, Loan, Outcome, Skip};
use lab::devices::Device;
use pipeline::Requirements;
use pipeline::plan::{Role, Run};
use tokio::runtime::Runtime;

use crate::benches::{self, ServerBenches};
use crate::groups::{Embedded, Loading};
use crate::opening;
use crate::plugin::Opened;
use crate::serve;
use crate::services::Services;

mod captures;
mod folder;
mod held;
mod offer;
mod safety;

pub use offer::Offer;
pub use safety::Safety;

use folder::Folder;
use held::{Held, Lease};

/// Timeout for a pod to answer for the first time.
const ONLINE_WAIT: Duration = Duration::from_secs(10);

/// Time for all that is left of runs to end.
const STOP_WAIT: Duration = Duration::from_secs(10);

/// Devices for the runs of one pipeline.
#[derive(Debug)]
pub struct LocalBench {
    runtime: Runtime,
    services: Arc<Services>,
    benches: Arc<ServerBenches>,
    /// The user for whom runs use the devices.
    user: String,
    org: String,
    offers: Mutex<Offers>,
    safety: Safety,
    /// Behind all that uses it.
    folder: Folder,
}

/// Devices that runs may have, of which the first one that fits is taken.
#[derive(Debug)]
struct Offers {
    /// Attached, with its id.
    attached: Vec<(Offer, String)>,
    /// Attached when no other fits, the first one last.
    others: Vec<Offer>,
}

impl LocalBench {
    /// A bench with these devices, of which those in front are preferred, on a new folder below `state`.
    ///
    /// # Errors
    /// The folder cannot be made, or something of what makes a server cannot be opened.
    pub fn open(
        state: &Path,
        mut offers: Vec<Offer>,
        handlers: &'static [Embedded],
    ) -> anyhow::Result<Self> {
        let folder = Folder::make(state).context("make a folder for the bench")?;
        let config = Config {
            data_dir: folder.path().to_owned(),
            ..Config::default()
        };
        let runtime = serve::runtime().context("start the async runtime")?;
        let loading = Loading::start(&config.handlers, handlers).context("load the handlers")?;
        let (services, benches, first) = runtime.block_on(async {
            let (services, benches) = opening::open(&config).await?;
            let first = services.auth.bootstrap().await;
            let first = first.context("make an organisation")?;
            let services = Arc::new(services);
            let opened = Opened::open(&config.data_dir, &config.plugins, &services).await?;
            serve::answering(&config, loading, &services, (&benches, opened), None)?;
            Ok::<_, anyhow::Error>((services, benches, first))
        })?;
        let user = runtime.block_on(services.auth.user_by_login(&first.login));
        let user = user.context("read the user")?.context("find the user")?;
        let safety = Safety::new(
            runtime.handle().clone(),
            services.leases.clone(),
            folder.path().to_owned(),
        );
        offers.reverse();
        Ok(Self {
            runtime,
            services,
            benches,
            user: user.id,
            org: first.org,
            offers: Mutex::new(Offers {
                attached: Vec::new(),
                others: offers,
            }),
            safety,
            folder,
        })
    }

    /// What makes all its devices safe at once.
    #[must_use]
    pub fn safety(&self) -> &Safety {
        &self.safety
    }

    /// Writes the captures of a job to its folder for results, each once, and tells which there are.
    ///
    /// # Errors
    /// One cannot be read, or not be written.
    pub(crate) fn keep_captures(&self, job: &Job, out: &Path) -> anyhow::Result<Vec<CaptureFile>> {
        captures::keep(
            self.runtime.handle(),
            &self.services.captures,
            (&self.org, job),
            out,
        )
    }

    /// Ends it. Its devices are safe by then, if they were given back.
    ///
    /// # Errors
    /// Its folder cannot be removed.
    pub fn close(self) -> io::Result<()> {
        let services = self.services;
        self.runtime.block_on(async {
            let all = async {
                services.flashing.stop().await;
                services.captures.stop().await;
                services.devices.stop();
                services.store.close().await
            };
            // What does not end is of no use to anybody: its folder is about to go.
            let _ = tokio::time::timeout(STOP_WAIT, all).await;
        });
        drop((services, self.benches));
        self.runtime.shutdown_timeout(STOP_WAIT);
        self.folder.remove()
    }

    /// The first device that fits a run, attached and online.
    fn fitting(&self, run: &Run) -> Result<(Offer, Device), Outcome> {
        let Role::Bench { device: wanted, .. } = &run.role else {
            return Err(no_device("it is no run of a bench"));
        };
        let mut offers = self.offers.lock().unwrap_or_else(PoisonError::into_inner);
        let mut misfits = Vec::new();
        let mut place = 0;
        while offers.has(place, |offer| self.attach(offer))? {
            let (offer, device) = &offers.attached[place];
            let device = self.services.devices.get(&self.org, device);
            let device = device.filter(|device| device.facts.is_some());
            match device {
                None if offer.is_simulated => {
                    return Err(broken("a simulated device does not begin"));
                }
                None => misfits.push(Err(offer.address.clone())),
                Some(device) => match self.misfit(wanted, offer, &device) {
                    None => return Ok((offer.clone(), device)),
                    Some(misfit) => misfits.push(Ok(format!("{}: {misfit}", offer.name))),
                },
            }
            place += 1;
        }
        // One that does not answer may be the one.
        let offline: Vec<String> = misfits.iter().filter_map(|m| m.clone().err()).collect();
        if !offline.is_empty() {
            return Err(broken(&format!("{} does not answer", offline.join(", "))));
        }
        let told: Vec<String> = misfits.into_iter().flatten().collect();
        Err(no_device(&format!(
            "{}; name one that has it with --device, as --device tcp:bench.example, or --device NAME=tcp:bench.example for a pipeline that wants NAME",
            told.join(", ")
        )))
    }

    fn misfit(&self, wanted: &Requirements, offer: &Offer, device: &Device) -> Option<String> {
        let mut wanted = wanted.clone();
        // Whoever names a device without a name for it means it whatever it is called.
        if offer.has_any_name {
            wanted.name = None;
        }
        let capabilities = self.runtime.block_on(self.benches.capabilities(device));
        let misfit = pipeline::matches(&wanted, &capabilities).err();
        misfit.map(|misfit| misfit.to_string())
    }

    /// Attaches a device; its id.
    fn attach(&self, offer: &Offer) -> anyhow::Result<String> {
        let devices = &self.services.devices;
        self.runtime.block_on(async {
            let transport = offer.transport()?;
            let attached =
                devices.attach_transport(&self.org, &offer.name, &offer.address, transport);
            attached.await.context("attach a device")?;
            let all = devices.all();
            let device = all.into_iter().find(|device| device.name == offer.name);
            let id = device.context("find the device that was attached")?.id;
            benches::wire(&self.services.store, &self.org, &id, &offer.wiring).await?;
            devices.settle(ONLINE_WAIT).await;
            Ok(id)
        })
    }
}

impl Offers {
    /// Whether there is one in this place, which is attached if it has to be.
    fn has(
        &mut self,
        place: usize,
        attach: impl FnOnce(&Offer) -> anyhow::Result<String>,
    ) -> Result<bool, Outcome> {
        if place < self.attached.len() {
            return Ok(true);
        }
        let Some(offer) = self.others.last() else {
            return Ok(false);
        };
        let id = attach(offer).map_err(|error| broken(&format!("{error:#}")))?;
        let offer = self.others.pop();
        self.attached.extend(offer.map(|offer| (offer, id)));
        Ok(true)
    }
}

impl jobs::Benches for LocalBench {
    fn take(
        &self,
        run: &Run,
        attempt: u32,
        cancel: &Cancel,
    ) -> Result<Box<dyn Loan + '_>, Outcome> {
        let (offer, device) = self.fitting(run)?;
        let record = &device.record;
        let grant = Grant {
            job: run.id.clone(),
            run: run.id.clone(),
            attempt,
            org: self.org.clone(),
            user: self.user.clone(),
            device: record.id.clone(),
            lease_id: id::base62(LEASE_ID_LEN),
            lease_owner: OWNER.to_owned(),
        };
        let take = || Lease::take(&self.safety, &grant, &record.name, cancel);
        // A process that was killed may have left its rails on.
        if !offer.is_simulated && !take()?.end() {
            return Err(broken(UNSAFE));
        }
        let lease = take()?;
        let opened = self.benches.bench(&grant);
        let opened = opened.map_err(|error| broken(&error.to_string()))?;
        Ok(Box::new(Held::new(opened, lease, offer.told())))
    }
}

/// What is said of a device whose safe state is not known.
const UNSAFE: &str = "it could not be made safe: look whether its target is powered";

/// Letters and digits of a lease's id.
const LEASE_ID_LEN: usize = 32;

/// Whose leases these are.
const OWNER: &str = "run";

fn no_device(why: &str) -> Outcome {
    Outcome::Skipped(Skip::NoDevice(why.to_owned()))
}

fn broken(why: &str) -> Outcome {
    Outcome::Broken(Breakage::DeviceLost(why.to_owned()))
}
