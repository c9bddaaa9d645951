//! `hostd serve`: open the store, load the handlers, attach the pods, answer until told to stop,
//! and shut down cleanly.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use anyhow::{Context, bail};
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tracing::{info, warn};

use crate::admin::Admin;
use crate::benches::ServerBenches;
use crate::demo;
use crate::drivers;
use crate::groups::{self, Embedded};
use crate::http::arrivals::Arrivals;
use crate::http::gateway::Gateway;
use crate::http::native::Native;
use crate::http::rate::Rate;
use crate::http::relay::{self, Relays};
use crate::http::socket::Sockets;
use crate::http::{openapi, server};
use crate::services::Services;
use base::clock::Clock;
use base::config::Proxies;
use base::config::{Config, PodsConfig};
use base::live::Patience;
use base::logging;
use base::private;
use base::space::{self, Space};
use dispatch::{Jobs, Parts};
use identity::Identity;
use identity::oidc::Oidc;
use lab::builds::Builds;
use lab::captures::Captures;
use lab::devices::Devices;
use lab::flashing::Flashing;
use lab::leases::Leases;
use lab::uart::Uarts;
use lab::updates::Updates;
use lab::waveforms::Waveforms;
use pods::PodOptions;
use rig::Lab;
use store::Store;

/// Threads for blocking work (store reads, segment files).
const BLOCKING_THREADS_MAX: usize = 16;

/// Interval between checks of how long a key has signed tokens.
const ROTATION_LOOK_EVERY: Duration = Duration::from_secs(3600);

/// The options of `serve` besides the configuration.
#[derive(Debug)]
pub struct Options {
    /// Demo organisation, key and simulated device; only on a loopback address.
    pub demo: bool,
    /// Written once requests are answered.
    pub ready_file: Option<PathBuf>,
}

/// Serve until SIGINT or SIGTERM.
///
/// # Errors
/// Whatever prevents the server from starting; once it runs, only a failed shutdown.
pub fn run(
    mut config: Config,
    options: &Options,
    handlers: &'static [Embedded],
) -> anyhow::Result<()> {
    let _log = logging::init(&config.log).context("set up the log")?;
    if options.demo {
        demo::prepare(&mut config)?;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .max_blocking_threads(BLOCKING_THREADS_MAX)
        .enable_all()
        .build()
        .context("start the async runtime")?;
    runtime.block_on(serve(config, options, handlers))
}

async fn serve(
    config: Config,
    options: &Options,
    handlers: &'static [Embedded],
) -> anyhow::Result<()> {
    let stop = stop_signal().context("listen for signals")?;
    let (services, benches) = open(&config).await?;
    let services = Arc::new(services);
    let first = services
        .auth
        .bootstrap()
        .await
        .context("set up the first organisation")?;
    services
        .auth
        .rotate_when_due()
        .await
        .context("replace the key that signs tokens")?;
    tokio::spawn(rotate_keys(Arc::downgrade(&services)));
    services.devices.load().await.context("read the devices")?;
    let demo = if options.demo {
        Some(demo::ensure(&services).await?)
    } else {
        services.auth.end_demo().await.context("end the demo")?;
        None
    };
    services
        .devices
        .attach(&config.devices, &services.auth.default_org())
        .await
        .context("attach the configured devices")?;
    let gateway = Arc::new(gateway(&config, handlers, &services).context("load the handlers")?);
    let sockets = config.data_dir.join(relay::FOLDER);
    let relays = Relays::new(gateway.clone(), &config.http, &sockets);
    let relays = relays.with_context(|| format!("make relays in {}", sockets.display()))?;
    // Only here.
    let _ = benches.relays.set(relays);
    let listener = TcpListener::bind(&config.http.listen)
        .await
        .with_context(|| format!("listen on {}", config.http.listen))?;
    let address = listener.local_addr().context("read the listen address")?;
    let url = format!("http://{address}");
    let admin = Admin::listen(&config.data_dir, services.clone());
    gateway.native.set_ready(true);
    info!(url, "serving");
    if let Some(code) = first.sign_in_code {
        demo::print_sign_in(&url, &code);
    }
    if let Some(demo) = &demo {
        services.devices.settle(demo::ONLINE_WAIT).await;
        demo::print_welcome(&url, demo, &services);
    }
    if let Some(path) = &options.ready_file {
        demo::write_ready_file(path, &url, demo.as_ref(), &services)
            .await
            .with_context(|| format!("write {}", path.display()))?;
    }
    let stop = async {
        stop.await;
        gateway.native.set_ready(false);
        // Tests that run reach their benches through this server.
        services.jobs.drain().await;
    };
    server::serve(listener, gateway.clone(), &config.http, stop)
        .await
        .context("serve")?;
    admin.stop();
    gateway.sockets.stop().await;
    services.flashing.stop().await;
    services.updates.stop().await;
    services.captures.stop().await;
    services.devices.stop();
    services.store.close().await.context("close the store")?;
    info!("stopped");
    Ok(())
}

/// Replace the key that signs tokens whenever it is due, while the server runs.
async fn rotate_keys(services: Weak<Services>) {
    loop {
        tokio::time::sleep(ROTATION_LOOK_EVERY).await;
        let Some(services) = services.upgrade() else {
            return;
        };
        match services.auth.rotate_when_due().await {
            Ok(true) => info!("a new key signs tokens from now on"),
            Ok(false) => {}
            Err(error) => warn!(%error, "failed to replace the key that signs tokens"),
        }
    }
}

/// The data folder, its disk and its store.
fn open_folder(config: &Config) -> anyhow::Result<(Arc<Space>, Store)> {
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
    Ok((space, store))
}

/// All that a server works with, from its data folder. The devices are not read yet.
///
/// # Errors
/// The folder belongs to somebody else, or what is in it cannot be read.
pub async fn open(config: &Config) -> anyhow::Result<(Services, Arc<ServerBenches>)> {
    let dir = &config.data_dir;
    let clock = Clock::system();
    let (space, store) = open_folder(config)?;
    let auth = Identity::open(store.clone(), clock.clone(), &config.auth.key_prefix)
        .await
        .context("read keys and users")?;
    let options = pod_options(&config.pods);
    let devices = Devices::new(store.clone(), clock.clone(), drivers::transport, options);
    let devices = Arc::new(devices);
    let (stored, now, disk) = (store.clone(), clock.clone(), space.clone());
    let captures = Captures::open(dir, &config.captures, stored, now, disk);
    let captures = captures.await.context("open the captures")?;
    let (stored, now, disk) = (store.clone(), clock.clone(), space.clone());
    let builds = Builds::open(dir, &config.builds, stored, now, disk);
    let builds = builds.await.context("open the builds")?;
    let (stored, now) = (store.clone(), clock.clone());
    let leases = Leases::open(&config.leases, stored, now, devices.clone());
    let leases = leases.await.context("read the leases")?;
    let uarts = Arc::new(Uarts::new(clock.clone()));
    let updates = Updates::open(
        store.clone(),
        clock.clone(),
        devices.clone(),
        leases.clone(),
        uarts.clone(),
    )
    .await
    .context("read the pod updates")?;
    let waveforms = Arc::new(Waveforms::new(
        &config.waveforms,
        store.clone(),
        clock.clone(),
        builds.blobs().clone(),
    ));
    let flashing = Flashing::new(clock.clone(), uarts.clone());
    let lab = Lab {
        handle: Handle::current(),
        leases: leases.clone(),
        captures: captures.clone(),
        flashing: flashing.clone(),
        uarts: uarts.clone(),
        waveforms: waveforms.clone(),
    };
    let parts = (store.clone(), clock.clone(), space.clone());
    let (jobs, benches) = open_jobs(config, lab, &devices, &builds, parts).await?;
    let services = Services {
        jobs,
        flashing,
        oidc: Oidc::new(&config.oidc, clock.clone()),
        uarts,
        clock,
        store,
        space,
        auth,
        devices,
        captures,
        builds,
        leases,
        updates,
        waveforms,
    };
    Ok((services, benches))
}

/// The jobs, and what gives them their benches.
async fn open_jobs(
    config: &Config,
    lab: Lab,
    devices: &Arc<Devices>,
    builds: &Builds,
    (store, clock, space): (Store, Clock, Arc<Space>),
) -> anyhow::Result<(Arc<Jobs>, Arc<ServerBenches>)> {
    let leases = lab.leases.clone();
    let benches = Arc::new(ServerBenches {
        lab,
        store: store.clone(),
        devices: devices.clone(),
        relays: OnceLock::new(),
    });
    let parts = Parts {
        store,
        clock,
        space,
        devices: devices.clone(),
        leases,
        blobs: builds.blobs().clone(),
        benches: benches.clone(),
    };
    let jobs = Jobs::open(&config.data_dir, &config.jobs, parts);
    Ok((jobs.await.context("go on with the jobs")?, benches))
}

/// What answers requests, with `handlers` loaded.
///
/// # Errors
/// A handler does not load, or a value of the configuration is malformed.
pub fn gateway(
    config: &Config,
    handlers: &'static [Embedded],
    services: &Arc<Services>,
) -> anyhow::Result<Gateway> {
    let (groups, table, descriptions) = groups::load(&config.handlers, handlers, services)?;
    let document = openapi::document(&table, descriptions)?;
    Ok(Gateway {
        table,
        groups,
        native: Native::new(
            document.to_string(),
            &config.metrics.token,
            services.clone(),
        ),
        rate: Rate::new(config.http.rate_per_s, config.http.rate_burst),
        services: services.clone(),
        sockets: Sockets::new(
            config.http.sockets_max,
            Patience {
                ping: Duration::from_millis(config.http.ping_ms),
                send: Duration::from_millis(config.http.socket_write_wait_ms),
            },
        ),
        arrivals: Arrivals::new(&config.http, &config.uploads, services.builds.upload_wait()),
        proxies: Proxies::parse(&config.http.trusted_proxies)
            .map_err(|e| anyhow::anyhow!("read http.trusted_proxies: {e}"))?,
    })
}

fn pod_options(config: &PodsConfig) -> PodOptions {
    PodOptions {
        grace: Duration::from_millis(config.grace_ms),
        ..PodOptions::default()
    }
}

/// Ends at SIGINT or SIGTERM.
pub(crate) fn stop_signal() -> std::io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}
