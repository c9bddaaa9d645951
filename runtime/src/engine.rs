//! The wasmtime engine: how it is configured, its clock, and how components get into it.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use wasmtime::component::{Component, HasSelf, Linker};

use crate::bindings::bench::host::http_types;
use crate::failure::LoadError;
use crate::state::{CallData, State};

mod config;

/// Time between checks of a running guest's limits.
pub const TICK_MS: u64 = 10;

/// Sizes of what the engine reserves when it starts.
#[derive(Debug, Clone)]
pub struct EngineOptions {
    /// Instances of all handlers together, idle ones included. Each takes 4 GiB of address space
    /// (not of memory).
    pub instances_max: u32,
    /// Hard limit for one instance's linear memory; handlers may set lower ones.
    pub memory_bytes_max: usize,
}

impl Default for EngineOptions {
    fn default() -> Self {
        Self {
            instances_max: 256,
            memory_bytes_max: 256 << 20,
        }
    }
}

/// Why there is no engine, or no compiled component.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    #[error("start the engine for {instances_max} instances (is there a limit on address space?)")]
    Start {
        instances_max: u32,
        #[source]
        source: wasmtime::Error,
    },
    #[error("compile for target {target}")]
    Target {
        target: String,
        #[source]
        source: wasmtime::Error,
    },
    #[error("compile the component")]
    Compile(#[source] wasmtime::Error),
    #[error("start the ticker thread")]
    Ticker(#[source] std::io::Error),
}

/// Compiles and holds components. Cloning is cheap; the last clone's end stops its ticker.
#[derive(Debug, Clone)]
pub struct Engine {
    inner: Arc<Inner>,
}

struct Inner {
    engine: wasmtime::Engine,
    instances_left: AtomicU32,
    /// Never sent on: closing it stops the ticker.
    _ticker: mpsc::Sender<()>,
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine")
            .field("instances_left", &self.instances_left)
            .finish_non_exhaustive()
    }
}

impl Engine {
    /// Reserve everything and start the ticker thread.
    ///
    /// # Errors
    /// Address space or threads are refused.
    pub fn new(options: &EngineOptions) -> Result<Self, EngineError> {
        let engine =
            wasmtime::Engine::new(&config::host(options)).map_err(|source| EngineError::Start {
                instances_max: options.instances_max,
                source,
            })?;
        let (ticker, stopped) = mpsc::channel::<()>();
        let ticking = engine.clone();
        thread::Builder::new()
            .name("wasm-ticker".to_owned())
            .spawn(move || {
                let tick = Duration::from_millis(TICK_MS);
                while stopped.recv_timeout(tick) == Err(RecvTimeoutError::Timeout) {
                    ticking.increment_epoch();
                }
            })
            .map_err(EngineError::Ticker)?;
        Ok(Self {
            inner: Arc::new(Inner {
                engine,
                instances_left: AtomicU32::new(options.instances_max),
                _ticker: ticker,
            }),
        })
    }

    /// A linker that holds `bench:host/http-types` and nothing else.
    ///
    /// # Panics
    /// Never: an empty linker has no name that could clash.
    #[must_use]
    pub fn linker<T: CallData>(&self) -> Linker<State<T>> {
        let mut linker = Linker::new(&self.inner.engine);
        http_types::add_to_linker::<_, HasSelf<State<T>>>(&mut linker, |state| state)
            .expect("the linker is empty");
        linker
    }

    /// Load what [`precompile`] made.
    ///
    /// The bytes are machine code that will run in this process: they must come from
    /// [`precompile`], through a place that only this program writes to. Version, settings and CPU
    /// features are checked; intentions cannot be.
    ///
    /// # Errors
    /// Not a precompiled component, of another version, or for another kind of CPU.
    #[allow(unsafe_code, reason = "precompiled components are machine code")]
    pub fn load(&self, precompiled: &[u8]) -> Result<Component, LoadError> {
        // SAFETY: the caller vouches for the origin, as the documentation demands.
        unsafe { Component::deserialize(&self.inner.engine, precompiled) }
            .map_err(LoadError::Precompiled)
    }

    /// As [`Engine::load`], mapping the file instead of copying it. It must not change while it
    /// is loaded: replace it, do not overwrite it.
    ///
    /// # Errors
    /// As [`Engine::load`], or the file cannot be read.
    #[allow(unsafe_code, reason = "precompiled components are machine code")]
    pub fn load_file(&self, path: &Path) -> Result<Component, LoadError> {
        // SAFETY: the caller vouches for the origin, as the documentation demands.
        unsafe { Component::deserialize_file(&self.inner.engine, path) }
            .map_err(LoadError::Precompiled)
    }

    /// Compile a component for this machine. Takes tens of milliseconds to seconds: call it
    /// where blocking is allowed.
    ///
    /// # Errors
    /// Not a valid component.
    pub fn compile(&self, wasm: &[u8]) -> Result<Component, LoadError> {
        Component::from_binary(&self.inner.engine, wasm).map_err(LoadError::Compile)
    }

    /// Reserve `instances`, or say how many are left.
    pub(crate) fn reserve(&self, instances: u32) -> Result<Reservation, u32> {
        self.inner
            .instances_left
            .try_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                left.checked_sub(instances)
            })?;
        Ok(Reservation {
            engine: self.clone(),
            instances,
        })
    }
}

/// Instances reserved for one handler.
#[derive(Debug)]
pub(crate) struct Reservation {
    engine: Engine,
    instances: u32,
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let left = &self.engine.inner.instances_left;
        left.fetch_add(self.instances, Ordering::Relaxed);
    }
}

/// Compile a component ahead of time. With a `target` triple the code uses only features of a named
/// CPU baseline, not whatever the build machine has; without one, it is for this machine.
///
/// # Errors
/// An unknown target, or not a valid component.
pub fn precompile(wasm: &[u8], target: Option<&str>) -> Result<Vec<u8>, EngineError> {
    let config = config::compiler(target).map_err(|source| EngineError::Target {
        target: target.unwrap_or("this machine").to_owned(),
        source,
    })?;
    let compiler = wasmtime::Engine::new(&config).map_err(|source| EngineError::Target {
        target: target.unwrap_or("this machine").to_owned(),
        source,
    })?;
    compiler
        .precompile_component(wasm)
        .map_err(EngineError::Compile)
}
