//! All that a server works with, from its data folder.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use analysis::{Analysis, Children};
use anyhow::{Context, bail};
use base::clock::Clock;
use base::config::{Config, PodsConfig};
use base::private;
use base::space::{self, Space};
use dispatch::{Begun, Jobs, Parts};
use identity::Identity;
use identity::oidc::Oidc;
use lab::blobs::Blobs;
use lab::builds::Builds;
use lab::captures::Captures;
use lab::devices::Devices;
use lab::flashing::Flashing;
use lab::leases::Leases;
use lab::telemetry::Telemetry;
use lab::uart::Uarts;
use lab::updates::Updates;
use lab::waveforms::Waveforms;
use notify::{Limits, Notices};
use pods::PodOptions;
use pods::dial::Dialled;
use store::{Store, StoreError};
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tracing::warn;
use vault::{SealError, Vault};

use crate::benches::ServerBenches;
use crate::events::Events;
use crate::services::Services;
use crate::{drivers, registers, sigrok};

/// What everything else stands on.
struct Ground {
    store: Store,
    space: Arc<Space>,
    clock: Clock,
}

/// Devices, and what is done with them.
struct Lab {
    dialled: Arc<Dialled>,
    devices: Arc<Devices>,
    captures: Arc<Captures>,
    builds: Arc<Builds>,
    leases: Arc<Leases>,
    uarts: Arc<Uarts>,
    updates: Arc<Updates>,
    waveforms: Arc<Waveforms>,
    flashing: Arc<Flashing>,
}

/// Opens everything. The devices are not read yet.
///
/// # Errors
/// The folder belongs to somebody else, or what is in it cannot be read.
pub async fn open(config: &Config) -> anyhow::Result<(Services, Arc<ServerBenches>)> {
    let dir = &config.data_dir;
    let ground = Ground::open(config)?;
    // What makes jails is started meanwhile.
    let begun = Jobs::begin(dir, &config.jobs).context("make folders of jobs")?;
    let Ground {
        store,
        space,
        clock,
    } = &ground;
    let auth = Identity::open(store.clone(), clock.clone(), &config.auth.key_prefix);
    let auth = auth.await.context("read keys and users")?;
    let auth = auth.remembering(config.auth.remember_days);
    let lab = Lab::open(config, &ground).await?;
    let vault = Vault::new(dir, store.clone(), clock.clone());
    tokio::spawn(look_after(vault.clone()));
    let noticed = Arc::<Notify>::default();
    let notices = open_notices(config, &ground, &vault, &noticed)?;
    let benches = lab.benches(store);
    let parts = Parts {
        store: store.clone(),
        clock: clock.clone(),
        space: space.clone(),
        devices: lab.devices.clone(),
        leases: lab.leases.clone(),
        blobs: lab.builds.blobs().clone(),
        benches: benches.clone(),
        vault: vault.clone(),
        noticed,
        repositories: notify::repositories(&config.commit_status),
        public_url: config.http.public_url.clone(),
    };
    let jobs = open_jobs(begun, parts).await?;
    let analysis = open_analysis(config, &ground, lab.builds.blobs()).await?;
    let (devices, leases) = (lab.devices.clone(), lab.leases.clone());
    let telemetry = Telemetry::begin(ground.clock.clone(), devices, leases);
    let services = Services {
        telemetry,
        jobs,
        analysis,
        public_url: config.http.public_url.clone(),
        vault,
        notices,
        events: Events::new(lab.devices.news(), config.http.event_streams_max),
        plugins: OnceLock::new(),
        oidc: Oidc::new(&config.oidc, clock.clone()),
        auth,
        flashing: lab.flashing,
        uarts: lab.uarts,
        dialled: lab.dialled,
        devices: lab.devices,
        captures: lab.captures,
        builds: lab.builds,
        leases: lab.leases,
        updates: lab.updates,
        waveforms: lab.waveforms,
        clock: ground.clock,
        store: ground.store,
        space: ground.space,
    };
    Ok((services, benches))
}

impl Ground {
    /// The data folder, its disk and its store.
    fn open(config: &Config) -> anyhow::Result<Self> {
        let dir = &config.data_dir;
        private::data_folder(dir)?;
        if base::folder::is_half_restored(dir) {
            bail!(
                "use {}: a restore into it did not come to its end; run hostd restore again",
                dir.display()
            );
        }
        let space = Space::open(dir, &config.disk);
        tokio::spawn(space::watch(Arc::downgrade(&space)));
        let store = Store::open(dir, config.store.cache_mib)
            .with_context(|| format!("open the store in {}", dir.display()))?;
        Ok(Self {
            store,
            space,
            clock: Clock::system(),
        })
    }
}

impl Lab {
    async fn open(config: &Config, ground: &Ground) -> anyhow::Result<Self> {
        let dir = &config.data_dir;
        let on = || {
            (
                ground.store.clone(),
                ground.clock.clone(),
                ground.space.clone(),
            )
        };
        let (store, clock, space) = on();
        let options = pod_options(&config.pods);
        let dialled = Dialled::new();
        let connect = drivers::connect(&config.devices, &dialled);
        let devices = Devices::new(store, clock.clone(), connect, options);
        let devices = Arc::new(devices);
        let (store, ..) = on();
        let found = devices.clone();
        let captures = Captures::open(dir, &config.captures, store, clock, space, found);
        let captures = captures.await.context("open the captures")?;
        let shelf = sigrok::Shelf::new(&config.captures);
        captures.decoders().use_engine(Box::new(shelf));
        if !config.captures.registers.as_os_str().is_empty() {
            let parts = registers::load([config.captures.registers.as_path()]);
            let parts = parts.context("read the descriptions of parts (captures.registers)")?;
            captures.decoders().know(parts);
        }
        let (store, clock, space) = on();
        let builds = Builds::open(dir, &config.builds, store, clock, space);
        let builds = builds.await.context("open the builds")?;
        let (store, clock, _) = on();
        let leases = Leases::open(&config.leases, store, clock, devices.clone());
        let leases = leases.await.context("read the leases")?;
        let (store, clock, _) = on();
        let uarts = Arc::new(Uarts::new(clock.clone()));
        let updates = Updates::open(store, clock, devices.clone(), leases.clone(), uarts.clone());
        let updates = updates.await.context("read the pod updates")?;
        let (store, clock, _) = on();
        let flashing = Flashing::new(clock.clone(), uarts.clone(), devices.clone());
        let waveforms = Waveforms::new(&config.waveforms, store, clock, builds.blobs().clone());
        Ok(Self {
            dialled,
            devices,
            captures,
            builds,
            leases,
            uarts,
            updates,
            waveforms: Arc::new(waveforms),
            flashing,
        })
    }

    /// What gives jobs their benches.
    fn benches(&self, store: &Store) -> Arc<ServerBenches> {
        Arc::new(ServerBenches {
            lab: rig::Lab {
                handle: Handle::current(),
                leases: self.leases.clone(),
                captures: self.captures.clone(),
                flashing: self.flashing.clone(),
                uarts: self.uarts.clone(),
                waveforms: self.waveforms.clone(),
            },
            store: store.clone(),
            devices: self.devices.clone(),
            relays: OnceLock::new(),
        })
    }
}

/// What looks at boards, each in a child that is this program once more.
async fn open_analysis(
    config: &Config,
    ground: &Ground,
    blobs: &Arc<Blobs>,
) -> anyhow::Result<Arc<Analysis>> {
    let program = std::env::current_exe().context("find this program")?;
    let verb = vec![analysis::VERB.into()];
    let work = config.data_dir.join(base::folder::ANALYSES);
    let children = Children::open(program, verb, &config.emi, &work);
    let children = children.with_context(|| format!("clear {}", work.display()))?;
    let parts = analysis::Parts {
        store: ground.store.clone(),
        clock: ground.clock.clone(),
        blobs: blobs.clone(),
        runner: Arc::new(children),
        arrival_max: arrival_max(config),
    };
    let opened = Analysis::open(&config.emi, parts).await;
    opened.context("open the analysis of boards")
}

/// How long a body may take that goes to disk: it waits for its place, arrives, waits for its handler, and is kept.
fn arrival_max(config: &Config) -> Duration {
    let parts_ms = [
        config.uploads.queue_wait_ms,
        config.builds.upload_wait_ms,
        config.handlers.queue_wait_ms,
        config.handlers.deadline_ms,
    ];
    Duration::from_millis(parts_ms.into_iter().fold(0, u64::saturating_add))
}

/// Seals what an earlier version left open, and tells what cannot be read. Nobody waits for it: it opens everything that
/// is sealed.
async fn look_after(vault: Arc<Vault>) {
    match vault.seal_plain_webhook_keys().await {
        Ok(()) | Err(SealError::Store(StoreError::Closed)) => {}
        Err(error) => warn!(
            error = &error as &dyn std::error::Error,
            "failed to seal the keys of webhooks; they sign as they are"
        ),
    }
    match vault.warn_of_unreadable().await {
        Ok(()) | Err(StoreError::Closed) => {}
        Err(error) => warn!(
            error = &error as &dyn std::error::Error,
            "failed to look at the secrets"
        ),
    }
}

/// Those who are told of jobs. `wake` says when there is something to tell.
fn open_notices(
    config: &Config,
    ground: &Ground,
    vault: &Arc<Vault>,
    wake: &Arc<Notify>,
) -> anyhow::Result<Arc<Notices>> {
    let opened = Notices::open(notify::Parts {
        store: ground.store.clone(),
        clock: ground.clock.clone(),
        vault: vault.clone(),
        wake: wake.clone(),
        webhooks: &config.webhooks,
        commit_statuses: &config.commit_status,
        public_url: &config.http.public_url,
        limits: Limits {
            first_pause_ms: config.webhooks.retry_ms,
            webhooks_per_org_max: config.webhooks.count_max as usize,
            badges_per_org_max: config.badges.count_max as usize,
            ..Limits::default()
        },
    });
    opened.context("go on telling others of jobs")
}

async fn open_jobs(begun: Begun, parts: Parts) -> anyhow::Result<Arc<Jobs>> {
    let opened = Jobs::open(begun, parts);
    opened.await.context("go on with the jobs")
}

fn pod_options(config: &PodsConfig) -> PodOptions {
    PodOptions {
        grace: Duration::from_millis(config.grace_ms),
        ..PodOptions::default()
    }
}
