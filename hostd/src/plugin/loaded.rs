//! One version of a plugin, ready to be called. Whoever holds it can go on calling it, whatever is installed meanwhile.

use std::sync::Arc;
use std::time::{Duration, Instant};

use plugins::cache::Hold;
use plugins::granted::Granted;
use plugins::interface::Interface;
use plugins::manifest::Manifest;
use plugins::rights::{Behind, Rights};
use runtime::{CallError, Exports, Guest, GuestOptions, Metrics, Mode};
use wasmtime::component::Component;

use super::call::PluginCall;
use super::decoding::{Decoders, DecodersError};
use super::endpoints::Endpoints;
use super::events::Subscriber;
use super::facts::Facts;
use super::ground::Ground;
use super::host;
use super::logs::Logs;
use super::meter::{Asked, Meter};
use super::proxy::{self, Proxy};
use super::reports::kind::KindsError;
use super::reports::{self, Reports};
use super::routes::{self, RoutesError};
use crate::host::Context;
use crate::http::openapi::{self, DocumentError, Paths};
use crate::http::routes::RouteTable;
use crate::services::Services;

/// Requests to one plugin that may wait for a free place.
const QUEUED_MAX: u32 = 64;

/// Requests after which an instance is replaced.
const CALLS_PER_INSTANCE: u32 = 1_000;

/// How long before its deadline a waiting plugin should answer instead.
const ANSWER_MARGIN_MAX: Duration = Duration::from_secs(1);

/// Why a version cannot be served. Fits "failed to …".
#[derive(Debug, thiserror::Error)]
pub(super) enum LoadError {
    #[error(transparent)]
    Runtime(runtime::LoadError),
    #[error(
        "serve it: it asks for {asked} calls at once, and {left} of all that plugins may have are left; lower its \
         limits.in_flight, disable another plugin, or raise plugins.instances_max and start the server again"
    )]
    NoRoom { asked: u32, left: u32 },
    #[error("read its routes")]
    Start(#[source] CallError),
    #[error(transparent)]
    Routes(#[from] RoutesError),
    #[error("read its decoders")]
    Decoders(#[source] CallError),
    #[error(transparent)]
    Described(#[from] DecodersError),
    #[error(transparent)]
    Kinds(#[from] KindsError),
    #[error("describe its routes")]
    Document(#[from] DocumentError),
    #[error(
        "find anything to call: it exports nothing of hostd:plugin, and no {} of version 0.2",
        proxy::INCOMING
    )]
    Nothing,
    #[error(
        "mount it: its manifest has [proxy], and it exports no {}",
        proxy::INCOMING
    )]
    NoProxy,
    #[error("serve it: it asks for {0}, which this server does not offer to plugins yet")]
    NotOffered(&'static str),
    #[error("give it {asked} MiB of memory: plugins.memory_mib_max is {most}")]
    Memory { asked: u32, most: u32 },
    #[error("serve it: it needs hostd:plugin {0}, and this server offers {offered}", offered = super::contract::VERSION)]
    Api(plugins::manifest::Api),
}

impl From<runtime::LoadError> for LoadError {
    fn from(error: runtime::LoadError) -> Self {
        match error {
            runtime::LoadError::NoRoom { asked, left, .. } => Self::NoRoom { asked, left },
            other => Self::Runtime(other),
        }
    }
}

/// A version of a plugin. It has at least one of the exports.
#[derive(Debug)]
pub struct Loaded {
    facts: Arc<Facts>,
    manifest: Manifest,
    label: Arc<str>,
    patience: Duration,
    table: RouteTable,
    paths: Paths,
    endpoints: Option<Endpoints>,
    decoders: Option<Decoders>,
    subscriber: Option<Subscriber>,
    reports: Option<Reports>,
    /// When it could be called.
    ready: Instant,
    proxy: Option<Proxy>,
    /// Keeps the compiled file from being removed while it is of use.
    _hold: Hold,
}

/// What the exports of a version are loaded from.
#[derive(Clone, Copy)]
pub(super) struct Loading<'a> {
    pub(super) ground: &'a Ground,
    pub(super) services: &'a Arc<Services>,
    pub(super) component: &'a Component,
    pub(super) manifest: &'a Manifest,
    pub(super) facts: &'a Arc<Facts>,
}

impl Loading<'_> {
    /// Whether the component exports the interface `name`, of any version.
    pub(super) fn exports(&self, name: &str) -> bool {
        self.ground.exports(self.component, name)
    }

    /// What the manifest's limits come to.
    pub(super) fn options(&self) -> GuestOptions {
        options(self.manifest)
    }

    /// Link the component for the world of `X`.
    pub(super) fn guest<X: Exports<PluginCall>>(
        &self,
        options: GuestOptions,
    ) -> Result<Guest<PluginCall, X>, LoadError> {
        let (services, facts) = (self.services.clone(), self.facts.clone());
        let make = move || nobodys(&services, &facts);
        Ok(self.ground.guest(self.component, options, make)?)
    }
}

impl Loaded {
    /// Link a version, start an instance of it and ask what it offers. Blocks, for at most some seconds.
    ///
    /// # Errors
    /// What it asks for, exports or answers is not what it should be.
    pub(super) fn new(
        ground: &Ground,
        services: &Arc<Services>,
        (component, hold): (&Component, Hold),
        manifest: Manifest,
        logs: Arc<Logs>,
    ) -> Result<Self, LoadError> {
        let most = ground.memory_mib_max();
        let asked = manifest.limits.memory_mib;
        if asked > most {
            return Err(LoadError::Memory { asked, most });
        }
        if !super::contract::API.serves(manifest.api) {
            return Err(LoadError::Api(manifest.api));
        }
        if let Some(what) = not_offered(&manifest) {
            return Err(LoadError::NotOffered(what));
        }
        let facts = Arc::new(Facts {
            id: manifest.id.clone(),
            version: manifest.version.to_string(),
            loaded: Instant::now(),
            logs,
            outbound: ground.outbound().share(),
            meter: Meter::default(),
            reads: host::captures::places(),
        });
        let loading = Loading {
            ground,
            services,
            component,
            manifest: &manifest,
            facts: &facts,
        };
        let (endpoints, declared) = Endpoints::load(loading)?.unzip();
        let decoders = Decoders::load(loading)?;
        let subscriber = Subscriber::load(loading)?;
        let (reports, made) = Reports::load(loading)?.unzip();
        let (proxy, mounted) = Proxy::load(loading)?.unzip();
        let exports = [
            endpoints.is_some(),
            decoders.is_some(),
            subscriber.is_some(),
            reports.is_some(),
            proxy.is_some(),
        ];
        if !exports.contains(&true) {
            return Err(LoadError::Nothing);
        }
        let declared = declared.unwrap_or_default();
        let mut table = routes::table(&manifest.id, declared, manifest.wants.public)?;
        let added = table.add(reports::GROUP, &made.unwrap_or_default());
        let added = added.and_then(|()| table.mount(proxy::GROUP, &mounted.unwrap_or_default()));
        added.map_err(|error| RoutesError::Table(error.to_string()))?;
        routes::check_names(&table)?;
        let deadline = Duration::from_millis(manifest.limits.deadline_ms.into());
        Ok(Self {
            label: facts.id.as_str().into(),
            facts,
            patience: deadline - ANSWER_MARGIN_MAX.min(deadline / 4),
            paths: openapi::paths(&table)?,
            table,
            endpoints,
            decoders,
            subscriber,
            reports,
            proxy,
            manifest,
            ready: Instant::now(),
            _hold: hold,
        })
    }

    /// Calls that failed because of it.
    pub(super) fn failures(&self) -> u64 {
        let failed = |m: &Metrics| m.traps + m.deadlines + m.bad_responses;
        self.metrics()
            .iter()
            .map(|(_, metrics)| failed(metrics))
            .sum()
    }

    /// What it is called in metrics and logs: its id.
    #[must_use]
    pub fn label(&self) -> Arc<str> {
        self.label.clone()
    }

    /// Its semantic version.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.facts.version
    }

    /// For how long it could have been called.
    pub(super) fn ready_for(&self) -> Duration {
        self.ready.elapsed()
    }

    /// How long a request may wait for something and still answer in time.
    #[must_use]
    pub fn patience(&self) -> Duration {
        self.patience
    }

    /// How long a call may take, with the wait for a free place.
    pub(super) fn longest_call(&self) -> Duration {
        let options = options(&self.manifest);
        Duration::from_millis(options.queue_wait_ms_max + options.deadline_ms)
    }

    /// Its routes, which begin with its prefix; none if it has no endpoints.
    #[must_use]
    pub fn table(&self) -> &RouteTable {
        &self.table
    }

    /// Its part of the OpenAPI document.
    pub(super) fn paths(&self) -> &Paths {
        &self.paths
    }

    /// What makes documents, if it does.
    pub(super) fn reports(&self) -> Option<&Reports> {
        self.reports.as_ref()
    }

    /// What answers every request below its prefix, if it does.
    pub(super) fn proxy(&self) -> Option<&Proxy> {
        self.proxy.as_ref()
    }

    /// What answers requests, if it does.
    pub(super) fn endpoints(&self) -> Option<&Endpoints> {
        self.endpoints.as_ref()
    }

    /// What decodes captures, if it does.
    pub(super) fn decoders(&self) -> Option<&Decoders> {
        self.decoders.as_ref()
    }

    /// What hears of events and timers, if it does.
    pub(super) fn subscriber(&self) -> Option<&Subscriber> {
        self.subscriber.as_ref()
    }

    /// Whether it wants to hear of a kind of events.
    pub(super) fn listens_to(&self, kind: &str) -> bool {
        self.subscriber.is_some() && self.manifest.wants.events.contains(kind)
    }

    pub(super) fn facts(&self) -> &Arc<Facts> {
        &self.facts
    }

    pub(super) fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// What it has asked of others so far.
    #[must_use]
    pub fn asked(&self) -> Asked {
        self.facts.meter.asked()
    }

    /// What each of its exports has done so far, by the export's name.
    #[must_use]
    pub fn metrics(&self) -> Vec<(&'static str, Metrics)> {
        let all = [
            ("http", self.endpoints.as_ref().map(Endpoints::metrics)),
            ("decoding", self.decoders.as_ref().map(Decoders::metrics)),
            ("events", self.subscriber.as_ref().map(Subscriber::metrics)),
            ("reports", self.reports.as_ref().map(Reports::metrics)),
            ("wasi-http", self.proxy.as_ref().map(Proxy::metrics)),
        ];
        let has = |(name, metrics): (_, Option<_>)| Some((name, metrics?));
        all.into_iter().filter_map(has).collect()
    }
}

/// What a manifest may ask for, and nobody gives.
fn not_offered(manifest: &Manifest) -> Option<&'static str> {
    let wants = &manifest.wants;
    let offered = |i: &Interface| {
        super::contract::FILES
            .iter()
            .any(|(file, _)| file.strip_suffix(".wit") == Some(i.as_str()))
    };
    let other = wants.interfaces.iter().find(|i| !offered(i));
    other.map(|interface| interface.as_str())
}

/// What the limits of a manifest come to.
pub(super) fn options(manifest: &Manifest) -> GuestOptions {
    let limits = &manifest.limits;
    let memory_bytes = (limits.memory_mib as usize) << 20;
    GuestOptions {
        mode: if limits.reuse {
            Mode::Pooled {
                calls_max: CALLS_PER_INSTANCE,
            }
        } else {
            Mode::Fresh
        },
        in_flight_max: limits.in_flight,
        queued_max: QUEUED_MAX,
        deadline_ms: limits.deadline_ms.into(),
        compute_ms_max: limits.compute_ms.into(),
        memory_bytes_max: memory_bytes,
        memory_kept_bytes_max: memory_bytes,
        ..GuestOptions::plugin(manifest.id.as_str(), &manifest.version.to_string())
    }
}

/// The data of an instance that waits: nobody's call, with no right.
fn nobodys(services: &Arc<Services>, facts: &Arc<Facts>) -> PluginCall {
    let rights = Rights::new(&facts.id, "", Granted::none(), Behind::Anyone);
    let context = Context {
        group: facts.id.as_str().into(),
        request_id: "load".to_owned(),
        caller: None,
        lease: None,
        client: None,
        origin: None,
        answer_by: Instant::now(),
        disk_full: Arc::default(),
    };
    let config = "{}".into();
    PluginCall::new(
        services.clone(),
        facts.clone(),
        (rights, config),
        context,
        None,
    )
}
