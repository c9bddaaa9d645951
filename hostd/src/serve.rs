//! `hostd serve`: open the store, load the handlers, attach the pods, answer until told to stop,
//! and shut down cleanly.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::Duration;

use anyhow::Context;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tracing::{info, warn};

use crate::admin::Admin;
use crate::benches::ServerBenches;
use crate::demo;
use crate::groups::{self, Embedded, Loading};
use crate::holders;
use crate::http::arrivals::Arrivals;
use crate::http::desk::Desk;
use crate::http::dial::DialIn;
use crate::http::gateway::Gateway;
use crate::http::native::Native;
use crate::http::rate::Rate;
use crate::http::relay::{self, Relays};
use crate::http::socket::Sockets;
use crate::http::web::Web;
use crate::http::{openapi, server};
use crate::opening;
use crate::plugin::{Opened, Plugins};
use crate::services::Services;
use crate::usb;
use base::config::Config;
use base::config::Proxies;
use base::live::Patience;
use base::logging;

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
    /// The web application of this folder instead of the one in the binary.
    pub web: Option<PathBuf>,
}

impl Options {
    fn web(&self) -> anyhow::Result<Web> {
        match &self.web {
            Some(folder) => Web::edited(folder),
            None => Web::embedded(),
        }
    }
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
    let runtime = runtime().context("start the async runtime")?;
    runtime.block_on(serve(config, options, handlers))
}

/// What everything of a server runs on.
///
/// # Errors
/// The system gives it no threads.
pub fn runtime() -> io::Result<Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .max_blocking_threads(BLOCKING_THREADS_MAX)
        .enable_all()
        .build()
}

async fn serve(
    config: Config,
    options: &Options,
    handlers: &'static [Embedded],
) -> anyhow::Result<()> {
    let stop = stop_signal().context("listen for signals")?;
    let web = options.web().context("open the web application")?;
    let loading = Loading::start(&config.handlers, handlers).context("load the handlers")?;
    let (services, benches) = opening::open(&config).await?;
    let services = Arc::new(services);
    let sign_in_code = begin_identity(&services).await?;
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
    let registered = services.devices.attach_registered();
    registered.await.context("attach the registered pods")?;
    let opened = Opened::open(&config.data_dir, &config.plugins, &services).await?;
    let gateway = answering(&config, loading, &services, (&benches, opened), Some(web))?;
    let started = gateway.plugins.start().await;
    started.context("start the plugins")?;
    gateway.plugins.follow_folder(&config.data_dir);
    let (listener, address) = listen(&config.http.listen).await?;
    let url = format!("http://{address}");
    let admin = Admin::listen(&config.data_dir, services.clone(), gateway.plugins.clone());
    gateway.native.set_ready(true);
    tokio::spawn(usb::follow(
        services.devices.clone(),
        services.auth.default_org(),
        config.pods.usb,
    ));
    tokio::spawn(holders::follow(services.clone()));
    info!(url, "serving");
    if let Some(code) = sign_in_code {
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
    services.jobs.settle_in();
    let settled = services.analysis.settle_in().await;
    settled.context("go on with analyses")?;
    let stop = async {
        stop.await;
        gateway.native.set_ready(false);
        // Tests that run reach their benches through this server.
        services.jobs.drain().await;
        services.events.stop();
    };
    server::serve(listener, gateway.clone(), &config.http, stop)
        .await
        .context("serve")?;
    admin.stop();
    gateway.sockets.stop().await;
    end(&services).await?;
    info!("stopped");
    Ok(())
}

/// Stops what works on its own, and closes the store behind it.
async fn end(services: &Services) -> anyhow::Result<()> {
    services.dialled.stop().await;
    services.flashing.stop().await;
    services.updates.stop().await;
    services.captures.stop().await;
    services.analysis.stop().await;
    services.devices.stop();
    services.store.close().await.context("close the store")
}

/// A listener at this address, and where it listens.
async fn listen(address: &str) -> anyhow::Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind(address)
        .await
        .with_context(|| format!("listen on {address}"))?;
    let address = listener.local_addr().context("read the listen address")?;
    Ok((listener, address))
}

/// The first organisation, if there is none yet, and a key that may sign tokens. The code to sign in with for the first
/// time.
async fn begin_identity(services: &Arc<Services>) -> anyhow::Result<Option<String>> {
    let first = services.auth.bootstrap().await;
    let first = first.context("set up the first organisation")?;
    let rotated = services.auth.rotate_when_due().await;
    rotated.context("replace the key that signs tokens")?;
    tokio::spawn(rotate_keys(Arc::downgrade(services)));
    Ok(first.sign_in_code)
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

/// What answers requests, those of programs of jobs included, which reach it by relays of their own.
///
/// # Errors
/// As [`gateway`], or the folder of relays cannot be used.
pub(crate) fn answering(
    config: &Config,
    loading: Loading,
    services: &Arc<Services>,
    (benches, opened): (&ServerBenches, Opened),
    web: Option<Web>,
) -> anyhow::Result<Arc<Gateway>> {
    let gateway = gateway(config, loading, services, opened, web).context("load the handlers")?;
    let gateway = Arc::new(gateway);
    let sockets = config.data_dir.join(relay::FOLDER);
    let relays = Relays::new(gateway.clone(), &config.http, &sockets);
    let relays = relays.with_context(|| format!("make relays in {}", sockets.display()))?;
    // Only here.
    let _ = benches.relays.set(relays);
    Ok(gateway)
}

/// What answers requests, once the handlers are loaded.
///
/// # Errors
/// A handler does not load, or a value of the configuration is malformed.
pub fn gateway(
    config: &Config,
    loading: Loading,
    services: &Arc<Services>,
    opened: Opened,
    web: Option<Web>,
) -> anyhow::Result<Gateway> {
    let (engine, groups, table, descriptions) = groups::load(&config.handlers, loading, services)?;
    let document = openapi::document(&table, descriptions)?;
    let plugins = Plugins::new(services.clone(), &config.plugins, engine, opened);
    // Only here.
    let _ = services.plugins.set(Arc::downgrade(&plugins));
    Ok(Gateway {
        table,
        groups,
        plugins,
        native: Native::new(document, &config.metrics.token, services.clone(), web),
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
        dial: DialIn::new(config, services.dialled.clone()),
        desk: Desk::new(
            config
                .emi
                .local
                .then(|| services.auth.default_org())
                .as_deref(),
        ),
        proxies: Proxies::parse(&config.http.trusted_proxies)
            .map_err(|e| anyhow::anyhow!("read http.trusted_proxies: {e}"))?,
    })
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
