//! Handler groups: find their components, link each to its world, and keep them ready.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use runtime::{
    CallError, Engine, EngineOptions, Handler, HandlerOptions, Metrics, Mode, Reply, Request, Route,
};
use tracing::info;

use crate::host::{self, Call, Context};
use crate::http::openapi::Descriptions;
use crate::http::routes::{RouteError, RouteTable};
use crate::services::Services;
use base::config::HandlersConfig;

mod loading;

pub use loading::Loading;

/// Largest response a handler may build in its own memory. Larger ones are streamed by the host.
const RESPONSE_BYTES_MAX: usize = 8 << 20;

/// How long before its deadline a waiting handler should answer instead.
const ANSWER_MARGIN_MAX: Duration = Duration::from_secs(5);

/// Most handler groups loaded at once.
const GROUPS_MAX: usize = 32;

/// The custom section of a component that describes its routes.
const DESCRIPTION: &str = "hostd:openapi";

/// A component compiled ahead of time, as embedded in the binary.
#[derive(Debug, Clone, Copy)]
pub struct Embedded {
    pub name: &'static str,
    pub code: &'static [u8],
    /// The content of the component's section `hostd:openapi`, which compiled code no longer has.
    pub openapi: &'static [u8],
}

/// One loaded endpoint group.
#[derive(Debug)]
pub struct Group {
    name: Arc<str>,
    handler: Handler<Call>,
    patience: Duration,
}

/// Why the handlers cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum GroupError {
    #[error("start the component engine")]
    Engine(#[from] runtime::EngineError),
    #[error("start a thread that loads handlers")]
    Thread(#[source] std::io::Error),
    #[error("load handler {name}")]
    Load {
        name: String,
        #[source]
        source: runtime::LoadError,
    },
    #[error("link handler {name}: there is no world {name}-group in wit/world.wit")]
    NoWorld { name: String },
    #[error("link handler {name}")]
    Link {
        name: String,
        #[source]
        source: wasmtime::Error,
    },
    #[error("read {path}")]
    Read {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("{path} holds no handler component (*.wasm)")]
    Empty { path: PathBuf },
    #[error("{path} holds more than {GROUPS_MAX} components")]
    TooMany { path: PathBuf },
    #[error(transparent)]
    Route(#[from] RouteError),
    #[error("read what handler {name} says about its routes")]
    Description {
        name: String,
        #[source]
        source: serde_json::Error,
    },
}

impl Group {
    /// Stem of the component's file, name of its world and its metrics label.
    #[must_use]
    pub fn name(&self) -> Arc<str> {
        self.name.clone()
    }

    /// How long a request may wait for something and still answer in time.
    #[must_use]
    pub fn patience(&self) -> Duration {
        self.patience
    }

    #[must_use]
    pub fn routes(&self) -> &[Route] {
        self.handler.routes()
    }

    #[must_use]
    pub fn metrics(&self) -> Metrics {
        self.handler.metrics()
    }

    /// Run one request through the group.
    ///
    /// # Errors
    /// See [`CallError`]; the guest's own error responses are replies.
    pub async fn call(&self, request: Request, call: Call) -> Result<Reply, CallError> {
        self.handler.call(request, call).await
    }
}

/// Link all groups once their components are loaded, and build their route table. Also the engine that they run on.
///
/// # Errors
/// A component does not load, imports an interface that its world does not grant, or has
/// conflicting routes.
pub fn load(
    config: &HandlersConfig,
    loading: Loading,
    services: &Arc<Services>,
) -> Result<(Engine, Vec<Group>, RouteTable, Descriptions), GroupError> {
    let Components {
        engine,
        loaded,
        descriptions,
    } = loading.finish()?;
    let mut table = RouteTable::default();
    let mut groups = Vec::new();
    for (name, component) in loaded {
        let group = instantiate(&engine, config, services, name, &component)?;
        table.add(groups.len(), group.routes())?;
        info!(handler = %group.name, routes = group.routes().len(), "handler loaded");
        groups.push(group);
    }
    Ok((engine, groups, table, descriptions))
}

/// What [`Loading`] gives.
struct Components {
    engine: Engine,
    /// Each with the name of its group.
    loaded: Vec<(String, wasmtime::component::Component)>,
    descriptions: Descriptions,
}

impl Components {
    fn load(config: &HandlersConfig, embedded: &[Embedded]) -> Result<Self, GroupError> {
        let files = if config.dir.as_os_str().is_empty() {
            Vec::new()
        } else {
            components(&config.dir)?
        };
        let groups = u32::try_from(embedded.len().max(files.len())).unwrap_or(u32::MAX);
        let engine = Engine::new(&EngineOptions {
            instances_max: config.in_flight_max.saturating_mul(groups),
            memory_bytes_max: (config.memory_mib as usize) << 20,
        })?;
        let components = if files.is_empty() {
            embedded
                .iter()
                .map(|one| {
                    let component = load_precompiled(&engine, one.name, one.code)?;
                    Ok((one.name.to_owned(), component, Some(one.openapi.into())))
                })
                .collect::<Result<Vec<_>, GroupError>>()?
        } else {
            compile(&engine, files)?
        };
        let mut descriptions = Descriptions::default();
        let mut loaded = Vec::new();
        for (name, component, description) in components {
            if let Some(description) = description {
                let added = descriptions.add(&description);
                added.map_err(|source| GroupError::Description {
                    name: name.clone(),
                    source,
                })?;
            }
            loaded.push((name, component));
        }
        Ok(Self {
            engine,
            loaded,
            descriptions,
        })
    }
}

fn instantiate(
    engine: &Engine,
    config: &HandlersConfig,
    services: &Arc<Services>,
    name: String,
    component: &wasmtime::component::Component,
) -> Result<Group, GroupError> {
    let interfaces =
        host::world(&name).ok_or_else(|| GroupError::NoWorld { name: name.clone() })?;
    let mut linker = engine.linker::<Call>();
    host::link(&mut linker, &interfaces).map_err(|source| GroupError::Link {
        name: name.clone(),
        source,
    })?;
    let options = HandlerOptions {
        name: name.clone(),
        mode: if config.fresh {
            Mode::Fresh
        } else {
            Mode::Pooled {
                calls_max: config.calls_per_instance,
            }
        },
        in_flight_max: config.in_flight_max,
        queue_wait_ms_max: config.queue_wait_ms,
        deadline_ms: config.deadline_ms,
        memory_bytes_max: (config.memory_mib as usize) << 20,
        response_bytes_max: RESPONSE_BYTES_MAX,
        ..HandlerOptions::default()
    };
    let label: Arc<str> = name.as_str().into();
    let make = {
        let services = services.clone();
        let label = label.clone();
        move || {
            Call::new(
                services.clone(),
                Context {
                    group: label.clone(),
                    request_id: "load".to_owned(),
                    caller: None,
                    lease: None,
                    client: None,
                    origin: None,
                    answer_by: Instant::now(),
                    disk_full: Arc::default(),
                },
            )
        }
    };
    let handler = Handler::new(engine, &linker, component, options, make)
        .map_err(|source| GroupError::Load { name, source })?;
    let deadline = Duration::from_millis(config.deadline_ms);
    Ok(Group {
        name: label,
        handler,
        patience: deadline - ANSWER_MARGIN_MAX.min(deadline / 4),
    })
}

fn load_precompiled(
    engine: &Engine,
    name: &str,
    code: &[u8],
) -> Result<wasmtime::component::Component, GroupError> {
    engine.load(code).map_err(|source| GroupError::Load {
        name: name.to_owned(),
        source,
    })
}

fn unreadable(path: &Path, source: std::io::Error) -> GroupError {
    GroupError::Read {
        path: path.to_owned(),
        source,
    }
}

/// The components in a folder, sorted; at least one.
fn components(dir: &Path) -> Result<Vec<PathBuf>, GroupError> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(|e| unreadable(dir, e))? {
        let path = entry.map_err(|e| unreadable(dir, e))?.path();
        if path.extension().is_some_and(|e| e == "wasm") {
            files.push(path);
        }
        if files.len() > GROUPS_MAX {
            return Err(GroupError::TooMany {
                path: dir.to_owned(),
            });
        }
    }
    if files.is_empty() {
        return Err(GroupError::Empty {
            path: dir.to_owned(),
        });
    }
    files.sort();
    Ok(files)
}

/// Name and code of a group, and the description of its routes, if it has one.
type Loaded = (
    String,
    wasmtime::component::Component,
    Option<Cow<'static, [u8]>>,
);

fn compile(engine: &Engine, files: Vec<PathBuf>) -> Result<Vec<Loaded>, GroupError> {
    files
        .into_iter()
        .map(|path| {
            let name = path
                .file_stem()
                .map(|stem| stem.to_string_lossy().into_owned())
                .unwrap_or_default();
            let wasm = std::fs::read(&path).map_err(|e| unreadable(&path, e))?;
            let component = engine.compile(&wasm).map_err(|source| GroupError::Load {
                name: name.clone(),
                source,
            })?;
            let description = runtime::custom_section(&wasm, DESCRIPTION).map(<[u8]>::to_vec);
            Ok((name, component, description.map(Cow::Owned)))
        })
        .collect()
}
