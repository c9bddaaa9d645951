//! `hostd serve`: open the store, load the handlers, attach the pods, answer until told to stop,
//! and shut down cleanly.

use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::Duration;

use anyhow::{Context, bail};
use tokio::net::TcpListener;
use tracing::{info, warn};

use crate::admin::Admin;
use crate::demo;
use crate::drivers;
use crate::groups::{self, Embedded};
use crate::http::arrivals::Arrivals;
use crate::http::gateway::Gateway;
use crate::http::native::Native;
use crate::http::rate::Rate;
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
    let services = Arc::new(open(&config).await?);
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

async fn open(config: &Config) -> anyhow::Result<Services> {
    let dir = &config.data_dir;
    let clock = Clock::system();
    let (space, store) = open_folder(config)?;
    let auth = Identity::open(store.clone(), clock.clone(), &config.auth.key_prefix)
        .await
        .context("read keys and users")?;
    let options = pod_options(&config.pods);
    let devices = Devices::new(store.clone(), clock.clone(), drivers::transport, options);
    let devices = Arc::new(devices);
    let captures = Captures::open(
        dir,
        &config.captures,
        store.clone(),
        clock.clone(),
        space.clone(),
    )
    .await
    .context("open the captures")?;
    let builds = Builds::open(
        dir,
        &config.builds,
        store.clone(),
        clock.clone(),
        space.clone(),
    );
    let builds = builds.await.context("open the builds")?;
    let leases = Leases::open(
        &config.leases,
        store.clone(),
        clock.clone(),
        devices.clone(),
    )
    .await
    .context("read the leases")?;
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
    let waveforms = Waveforms::new(
        &config.waveforms,
        store.clone(),
        clock.clone(),
        builds.blobs().clone(),
    );
    Ok(Services {
        flashing: Flashing::new(clock.clone(), uarts.clone()),
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
    })
}

fn gateway(
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
