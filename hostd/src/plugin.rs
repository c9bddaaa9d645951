//! Plugins: components of others that are added to the running server, see docs/plugins.md.
//!
//! ```text
//! request ─ at(path) ─> Loaded ─ call(…) ─ rights ─> Guest ─ host/* ─> services
//! command (operator) ─> Plugins ─ package, grant, record ─> Loaded ─ swap ─> Serving
//! ```

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use admission::Requester;
use anyhow::Context as _;
use arc_swap::ArcSwap;
use base::config::PluginsConfig;
use bytes::Bytes;
use http::StatusCode;
use plugins::cache::{Cache, TOTAL_BYTES_DEFAULT};
use plugins::compile::{Compiler, LIMITS};
use plugins::installed::{Installed, Parts};
use plugins::rights::{Behind, Caller, Denied, Rights};
use plugins::signature::{Keys, Policy};
use runtime::{CallError, Engine, Reply};
use tokio::sync::Semaphore;

use crate::host::Context;
use crate::http::error::ApiError;
use crate::http::openapi;
use crate::services::Services;
use call::PluginCall;
use decoding::library::{Places, Shelf};
use ground::{Ground, GroundError};
use logs::Logs;
use refused::Refusals;
use settings::{Of, Settings};

pub mod asked;
mod authority;
mod bindings;
mod call;
pub mod check;
pub mod command;
pub mod component;
pub mod contract;
pub mod decoding;
mod endpoints;
mod events;
mod facts;
mod fault;
mod folder;
pub mod fuzz;
mod ground;
mod guest;
mod host;
mod installs;
mod lifecycle;
mod loaded;
pub mod logs;
pub mod meter;
mod outbound;
mod proxy;
mod public;
pub mod refused;
mod reports;
mod routes;
mod settings;
mod sight;
pub mod template;

pub use asked::Asked;
pub use authority::{Authority, OrderError};
pub use events::Heard;
pub use installs::Unheard;
pub use loaded::Loaded;

/// Who does what a command asks for, in records of plugins.
const OPERATOR: &str = "operator";

/// Argument with which this program compiles a component for the server that started it.
pub const COMPILE_VERB: &str = "plugin-compile";

/// All plugins of a server.
#[derive(Debug)]
pub struct Plugins {
    services: Arc<Services>,
    config: PluginsConfig,
    /// Of the groups that come with the server.
    first: Engine,
    ground: OnceLock<Ground>,
    installed: Installed,
    compiler: Compiler,
    cache: OnceLock<Cache>,
    folder: PathBuf,
    serving: ArcSwap<Serving>,
    settings: Settings,
    /// What plugins are to be told of.
    outlet: events::outlet::Outlet,
    logs: Mutex<HashMap<String, Arc<Logs>>>,
    decodings: Places,
    refusals: Refusals,
    /// Places for installs over HTTP.
    installs: Arc<Semaphore>,
    /// One change at a time.
    changing: tokio::sync::Mutex<()>,
}

/// Whose plugins may be installed.
///
/// # Errors
/// A key of the configuration is none.
pub(crate) fn trusted(config: &PluginsConfig) -> anyhow::Result<Keys> {
    let keys = config.trusted_keys.split(',').map(str::trim);
    let keys = Keys::parse(keys.filter(|key| !key.is_empty()));
    keys.context("read plugins.trusted_keys")
}

/// What is opened before there are handlers.
#[derive(Debug)]
pub struct Opened {
    installed: Installed,
    compiler: Compiler,
    folder: PathBuf,
}

impl Opened {
    /// What is installed in the data folder `data`.
    ///
    /// # Errors
    /// A key of the configuration is none, or the disk.
    pub async fn open(
        data: &Path,
        config: &PluginsConfig,
        services: &Services,
    ) -> anyhow::Result<Self> {
        let keys = trusted(config)?;
        let policy = match config.trusted_keys.trim() {
            "" => Policy::Optional,
            _ => Policy::Required,
        };
        let installed = Installed::open(Parts {
            data: data.to_owned(),
            store: services.store.clone(),
            clock: services.clock.clone(),
            pins: services.space.pins.clone(),
            keys,
            policy,
        });
        let installed = installed.await.context("read what plugins are installed")?;
        let program = std::env::current_exe().context("find this program")?;
        Ok(Self {
            installed,
            compiler: Compiler::new(program, vec![COMPILE_VERB.into()], LIMITS),
            folder: data.join(base::folder::PLUGIN_CACHE),
        })
    }
}

/// The versions that answer. Replaced as a whole.
#[derive(Debug, Default)]
struct Serving {
    by_id: HashMap<String, Arc<Loaded>>,
    /// Why the others that are installed do not answer.
    absent: HashMap<String, String>,
    /// The document with their paths, once somebody has asked for it.
    openapi: OnceLock<Bytes>,
}

impl Plugins {
    /// None yet.
    #[must_use]
    pub fn new(
        services: Arc<Services>,
        config: &PluginsConfig,
        first: Engine,
        opened: Opened,
    ) -> Arc<Self> {
        let Opened {
            installed,
            compiler,
            folder,
        } = opened;
        let all = Arc::new(Self {
            services,
            config: config.clone(),
            first,
            ground: OnceLock::new(),
            installed,
            compiler,
            cache: OnceLock::new(),
            folder,
            serving: ArcSwap::default(),
            settings: Settings::default(),
            outlet: events::outlet::Outlet::default(),
            logs: Mutex::default(),
            decodings: Places::default(),
            refusals: Refusals::default(),
            installs: Arc::new(Semaphore::new(installs::INSTALLS_MAX)),
            changing: tokio::sync::Mutex::default(),
        });
        let shelf = Box::new(Shelf::new(Arc::downgrade(&all)));
        all.services.captures.decoders().add(shelf);
        all
    }

    /// The plugin below whose prefix a path lies, as it is now.
    #[must_use]
    pub fn at(&self, path: &str) -> Option<Arc<Loaded>> {
        self.loaded(id_in(path)?)
    }

    /// Why no plugin answers below the prefix in which a path lies; none if no plugin of this id is installed.
    #[must_use]
    pub fn absent(&self, path: &str) -> Option<ApiError> {
        let message = self.why_absent(id_in(path)?)?;
        Some(ApiError::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "plugin_unavailable",
            message,
        ))
    }

    /// Why a plugin that is installed does not answer, as a sentence.
    fn why_absent(&self, id: &str) -> Option<String> {
        let serving = self.serving.load();
        let why = serving.absent.get(id)?;
        Some(format!("the plugin {id} {why}"))
    }

    fn loaded(&self, id: &str) -> Option<Arc<Loaded>> {
        self.serving.load().by_id.get(id).cloned()
    }

    /// Whether this very version answers.
    fn serves(&self, loaded: &Arc<Loaded>) -> bool {
        let now = self.loaded(loaded.facts().id.as_str());
        now.is_some_and(|now| Arc::ptr_eq(&now, loaded))
    }

    /// Those that answer now.
    #[must_use]
    pub fn all(&self) -> Vec<Arc<Loaded>> {
        let serving = self.serving.load();
        let mut all: Vec<_> = serving.by_id.values().cloned().collect();
        all.sort_by_key(|loaded| loaded.label());
        all
    }

    /// What has become of the events and timers of plugins that ever had any.
    #[must_use]
    pub fn heard(&self) -> Vec<(Arc<str>, Heard)> {
        let all = self.all().into_iter().map(|loaded| loaded.label());
        all.filter_map(|id| Some((id.clone(), self.outlet.heard(&id)?)))
            .collect()
    }

    /// The server's OpenAPI document with the plugins' paths in it.
    #[must_use]
    pub fn openapi(&self, own: &Bytes) -> Bytes {
        let serving = self.serving.load();
        if serving.by_id.is_empty() {
            return own.clone();
        }
        let document = serving.openapi.get_or_init(|| {
            let text = std::str::from_utf8(own).expect("the document is text");
            let more = serving.by_id.values().map(|loaded| loaded.paths());
            openapi::extended(text, more).into()
        });
        document.clone()
    }

    /// Answer a request to a plugin.
    ///
    /// # Errors
    /// Nobody granted the plugin anything where the caller belongs, or it was taken back before the answer. What fails in the
    /// plugin itself is the inner error.
    pub async fn call(
        &self,
        plugin: &Loaded,
        asked: Asked,
        context: Context,
        requester: Requester,
    ) -> Result<Result<Reply, CallError>, ApiError> {
        let facts = plugin.facts();
        let org = match &context.caller {
            Some(caller) => Some(caller.org().to_owned()),
            None => public::org(&self.installed.grants_of(&facts.id), &asked.request.query),
        };
        let Some(org) = org else {
            return Err(ApiError::new(
                StatusCode::NOT_FOUND,
                "not_found",
                "no organisation has opened this plugin to callers without a credential, or several have; name one with ?org=",
            ));
        };
        let granted = self.installed.granted(&facts.id, &org);
        let rights = Rights::new(&facts.id, &org, granted, behind(&context));
        rights.may_serve().map_err(|denied| refused(&denied))?;
        let config = self.config(plugin, &org).await?;
        let (services, facts) = (self.services.clone(), facts.clone());
        let now = rights.clone();
        let call = PluginCall::new(services, facts, (rights, config), context, Some(requester));
        tokio::select! {
            biased;
            // Ends the call wherever it is, also where it asks the host for nothing.
            () = now.revoked() => {
                now.may_serve().map_err(|denied| refused(&denied))?;
                Err(ApiError::internal())
            }
            answer = Self::answer(plugin, asked, call) => answer,
        }
    }

    async fn answer(
        plugin: &Loaded,
        asked: Asked,
        call: PluginCall,
    ) -> Result<Result<Reply, CallError>, ApiError> {
        let no_such = || ApiError::not_found(&asked.request.path);
        match asked.group {
            reports::GROUP => {
                let reports = plugin.reports().ok_or_else(no_such)?;
                reports.answer(&asked, call).await
            }
            proxy::GROUP => {
                let proxy = plugin.proxy().ok_or_else(no_such)?;
                proxy.answer(asked, call).await
            }
            _ => {
                let endpoints = plugin.endpoints().ok_or_else(no_such)?;
                Ok(endpoints.answer(asked, call).await)
            }
        }
    }

    /// What a plugin is told of its configuration in an organisation.
    async fn config(&self, plugin: &Loaded, org: &str) -> Result<Arc<str>, ApiError> {
        let id = &plugin.facts().id;
        let of = Of(id.as_str(), plugin.facts().loaded);
        let seen = match self.settings.get(of, org) {
            Ok(known) => return Ok(known),
            Err(seen) => seen,
        };
        let read = self.installed.config(id, org, plugin.manifest()).await;
        let (values, faults) = read.map_err(|error| {
            tracing::error!(plugin = %id, %error, "failed to read the configuration of a plugin");
            ApiError::internal()
        })?;
        for fault in faults {
            plugin
                .facts()
                .logs
                .write(logs::Level::Warn, "", format!("configuration: {fault}"));
        }
        let text: Arc<str> = serde_json::Value::Object(values).to_string().into();
        self.settings.keep(seen, of, org, text.clone());
        Ok(text)
    }

    /// Compiled components, found with the first of them. Blocks on the disk.
    fn cache(&self) -> anyhow::Result<&Cache> {
        if let Some(cache) = self.cache.get() {
            return Ok(cache);
        }
        let cache = Cache::open(&self.folder, TOTAL_BYTES_DEFAULT)?;
        Ok(self.cache.get_or_init(|| cache))
    }

    /// What all plugins stand on, made with the first of them. Blocks for some milliseconds.
    fn ground(&self) -> Result<&Ground, GroundError> {
        if let Some(ground) = self.ground.get() {
            return Ok(ground);
        }
        let ground = Ground::new(&self.first, &self.config)?;
        Ok(self.ground.get_or_init(|| ground))
    }

    /// The log of a plugin, which outlives its versions.
    fn log(&self, id: &str) -> Arc<Logs> {
        let mut logs = self.logs.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || Arc::new(Logs::new(id, self.services.clock.clone()));
        logs.entry(id.to_owned()).or_insert_with(new).clone()
    }

    /// Serve these versions from now on. Requests that began with others end with them.
    fn swap(
        &self,
        change: impl Fn(&mut HashMap<String, Arc<Loaded>>, &mut HashMap<String, String>),
    ) {
        self.serving.rcu(|now| {
            let (mut by_id, mut absent) = (now.by_id.clone(), now.absent.clone());
            change(&mut by_id, &mut absent);
            Serving {
                by_id,
                absent,
                openapi: OnceLock::new(),
            }
        });
    }
}

/// The id in a path below the plugins' prefix.
fn id_in(path: &str) -> Option<&str> {
    path.strip_prefix(asked::PREFIX)?.split('/').next()
}

/// Who is behind a call that a request makes.
fn behind(context: &Context) -> Behind {
    let Some(caller) = &context.caller else {
        return Behind::Anyone;
    };
    let scopes = identity::scope::all().filter(|scope| caller.has_scope(scope.as_str()));
    Behind::Caller(Caller {
        org: caller.org().to_owned(),
        scopes: scopes.map(|scope| scope.as_str().to_owned()).collect(),
        devices: caller.devices().map(|ids| ids.iter().cloned().collect()),
    })
}

fn refused(denied: &Denied) -> ApiError {
    ApiError::new(
        StatusCode::FORBIDDEN,
        call::code(denied),
        denied.to_string(),
    )
}
