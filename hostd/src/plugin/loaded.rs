//! One version of a plugin, ready to be called. Whoever holds it can go on calling it, whatever is installed meanwhile.

use std::sync::Arc;
use std::time::{Duration, Instant};

use plugins::cache::Hold;
use plugins::interface::Interface;
use plugins::manifest::Manifest;
use plugins::rights::{Behind, Rights};
use runtime::{CallError, Guest, GuestOptions, Metrics, Mode, Reply, ReplyBody};
use wasmtime::component::Component;

use super::asked::{self, Asked};
use super::bindings::handler;
use super::call::PluginCall;
use super::facts::Facts;
use super::ground::Ground;
use super::guest::{HTTP, Handle, Routes};
use super::logs::Logs;
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
    Runtime(#[from] runtime::LoadError),
    #[error("read its routes")]
    Start(#[source] CallError),
    #[error(transparent)]
    Routes(#[from] RoutesError),
    #[error("describe its routes")]
    Document(#[from] DocumentError),
    #[error("find anything to call: it exports nothing of hostd:plugin")]
    Nothing,
    #[error("serve it: it asks for {0}, which this server does not offer to plugins yet")]
    NotOffered(&'static str),
    #[error("give it {asked} MiB of memory: plugins.memory_mib_max is {most}")]
    Memory { asked: u32, most: u32 },
    #[error("serve it: it needs hostd:plugin {0}, and this server offers {offered}", offered = super::contract::VERSION)]
    Api(plugins::manifest::Api),
}

/// A version of a plugin.
#[derive(Debug)]
pub struct Loaded {
    facts: Arc<Facts>,
    manifest: Manifest,
    label: Arc<str>,
    patience: Duration,
    table: RouteTable,
    paths: Paths,
    http: Option<Guest<PluginCall, handler::Handler>>,
    /// Keeps the compiled file from being removed while it is of use.
    _hold: Option<Hold>,
}

impl Loaded {
    /// Link a version, start an instance of it and read its routes. Blocks, for at most some seconds.
    ///
    /// # Errors
    /// What it asks for, exports or answers is not what it should be.
    pub(super) fn new(
        ground: &Ground,
        services: &Arc<Services>,
        component: &Component,
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
        if !ground.exports(component, HTTP) {
            return Err(LoadError::Nothing);
        }
        let facts = Arc::new(Facts {
            id: manifest.id.clone(),
            version: manifest.version.to_string(),
            loaded: Instant::now(),
            logs,
        });
        let make = {
            let (services, facts) = (services.clone(), facts.clone());
            move || nobodys(&services, &facts)
        };
        let options = options(&manifest);
        let mut http = ground.guest::<handler::Handler>(component, options, make)?;
        let declared = http.start(Routes).map_err(LoadError::Start)?;
        let table = routes::table(&manifest.id, declared, manifest.wants.public)?;
        let deadline = Duration::from_millis(manifest.limits.deadline_ms.into());
        Ok(Self {
            label: facts.id.as_str().into(),
            facts,
            patience: deadline - ANSWER_MARGIN_MAX.min(deadline / 4),
            paths: openapi::paths(&table)?,
            table,
            http: Some(http),
            manifest,
            _hold: None,
        })
    }

    /// With the file that it was loaded from.
    pub(super) fn holding(mut self, hold: Hold) -> Self {
        self._hold = Some(hold);
        self
    }

    /// Calls that failed because of it.
    pub(super) fn failures(&self) -> u64 {
        let failed = |m: Metrics| m.traps + m.deadlines + m.bad_responses;
        self.metrics().map_or(0, failed)
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

    /// How long a request may wait for something and still answer in time.
    #[must_use]
    pub fn patience(&self) -> Duration {
        self.patience
    }

    /// Its routes, which begin with its prefix.
    #[must_use]
    pub fn table(&self) -> &RouteTable {
        &self.table
    }

    /// Its part of the OpenAPI document.
    pub(super) fn paths(&self) -> &Paths {
        &self.paths
    }

    pub(super) fn facts(&self) -> &Arc<Facts> {
        &self.facts
    }

    pub(super) fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// What it has done so far.
    #[must_use]
    pub fn metrics(&self) -> Option<Metrics> {
        self.http.as_ref().map(Guest::metrics)
    }

    /// Answer one request.
    pub(super) async fn answer(&self, asked: &Asked, call: PluginCall) -> Result<Reply, CallError> {
        let Some(http) = &self.http else {
            unreachable!("a request was routed to a plugin without endpoints");
        };
        let most = http.options().response_bytes_max;
        http.call_then(&asked.0.id, call, Handle(&asked.0), |answer, _| {
            let bytes = answer.body.len();
            if bytes > most {
                let bytes_max = most;
                return Err(CallError::ResponseTooLarge { bytes, bytes_max });
            }
            let (status, headers, body) = asked::answered(answer);
            let body = if body.is_empty() {
                ReplyBody::Empty
            } else {
                ReplyBody::Bytes(body.into())
            };
            Reply::new(status, headers, body)
        })
        .await
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
    match other {
        Some(interface) => Some(interface.as_str()),
        None if !wants.events.is_empty() => Some("events"),
        None if !wants.timers.is_empty() => Some("timers"),
        None => None,
    }
}

fn options(manifest: &Manifest) -> GuestOptions {
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
    let rights = Rights::new(&facts.id, "", None, Behind::Anyone);
    let context = Context {
        group: facts.id.as_str().into(),
        request_id: "load".to_owned(),
        caller: None,
        lease: None,
        client: None,
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
