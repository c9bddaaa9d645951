//! The wasmtime engine: how it is configured, its clock, and how components get into it.

use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use sha2::{Digest, Sha256};
use wasmtime::component::{Component, HasSelf, Linker};

use crate::bindings::hostd::host::http_types;
use crate::failure::LoadError;
use crate::state::{CallData, State};
use crate::threads::Threads;

mod config;
mod ticker;

pub(crate) use config::Share;
pub use ticker::TICK_MS;
use ticker::Ticker;

/// Versions of every plugin for which its engine has room: the next one is loaded and proven while
/// the old one still answers.
const VERSIONS_AT_ONCE: u32 = 2;

/// Memory of a plugin's instance, if nothing else is said.
const PLUGIN_MEMORY_BYTES: usize = 64 << 20;

/// Sizes of what the engine reserves when it starts.
#[derive(Debug, Clone)]
pub struct EngineOptions {
    /// Instances of all guests together, idle ones included. Each takes 4 GiB of address space
    /// (not of memory).
    pub instances_max: u32,
    /// Hard limit for one instance's linear memory; guests may be given lower ones.
    pub memory_bytes_max: usize,
}

impl EngineOptions {
    /// For `instances_max` instances of plugins.
    #[must_use]
    pub fn plugins(instances_max: u32) -> Self {
        Self {
            instances_max,
            memory_bytes_max: PLUGIN_MEMORY_BYTES,
        }
    }
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

/// Compiles and holds components. Cloning is cheap; the last clone's end stops the ticker.
#[derive(Debug, Clone)]
pub struct Engine {
    inner: Arc<Inner>,
}

struct Inner {
    engine: wasmtime::Engine,
    share: Share,
    instances_left: AtomicU32,
    ticker: Ticker,
    threads: Threads,
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine")
            .field("instances_left", &self.instances_left)
            .finish_non_exhaustive()
    }
}

impl Engine {
    /// For handlers of our own: reserve everything and start the ticker thread.
    ///
    /// # Errors
    /// Address space or threads are refused.
    pub fn new(options: &EngineOptions) -> Result<Self, EngineError> {
        let ticker = Ticker::start().map_err(EngineError::Ticker)?;
        Self::start(options, Share::FIRST_PARTY, ticker)
    }

    /// A second engine beside this one, for plugins: their toolchains make components of many more
    /// parts. It reserves twice the instances asked for, so that a plugin can be replaced
    /// while it answers.
    ///
    /// # Errors
    /// Address space is refused.
    pub fn plugins(&self, options: &EngineOptions) -> Result<Self, EngineError> {
        let options = EngineOptions {
            instances_max: options.instances_max.saturating_mul(VERSIONS_AT_ONCE),
            ..*options
        };
        Self::start(&options, Share::PLUGIN, self.inner.ticker.clone())
    }

    fn start(options: &EngineOptions, share: Share, ticker: Ticker) -> Result<Self, EngineError> {
        let instances_max = options.instances_max;
        let config = config::host(instances_max, options.memory_bytes_max, &share);
        let engine = wasmtime::Engine::new(&config).map_err(|source| EngineError::Start {
            instances_max,
            source,
        })?;
        ticker.add(&engine);
        Ok(Self {
            inner: Arc::new(Inner {
                engine,
                share,
                instances_left: AtomicU32::new(instances_max),
                ticker,
                threads: Threads::default(),
            }),
        })
    }

    /// A linker that holds `hostd:host/http-types` and nothing else.
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
    /// Not a precompiled component, of another version, for another kind of CPU, or of more parts
    /// than the engine has for one.
    #[allow(unsafe_code, reason = "precompiled components are machine code")]
    pub fn load(&self, precompiled: &[u8]) -> Result<Component, LoadError> {
        // SAFETY: the caller vouches for the origin, as the documentation demands.
        unsafe { Component::deserialize(&self.inner.engine, precompiled) }
            .map_err(LoadError::precompiled)
    }

    /// Compile a component for this machine. Takes tens of milliseconds to seconds: call it
    /// where blocking is allowed.
    ///
    /// # Errors
    /// Not a valid component.
    pub fn compile(&self, wasm: &[u8]) -> Result<Component, LoadError> {
        Component::from_binary(&self.inner.engine, wasm).map_err(LoadError::compile)
    }

    /// Names version, settings and CPU: compiled code runs where the hash is the same. For the name
    /// of a cached file.
    #[must_use]
    pub fn code_hash(&self) -> [u8; 32] {
        let mut hash = CodeHash(Sha256::new());
        self.inner
            .engine
            .precompile_compatibility_hash()
            .hash(&mut hash);
        hash.0.finalize().into()
    }

    pub(crate) fn inner(&self) -> &wasmtime::Engine {
        &self.inner.engine
    }

    pub(crate) fn threads(&self) -> &Threads {
        &self.inner.threads
    }

    pub(crate) fn share(&self) -> &Share {
        &self.inner.share
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

/// Digests what is hashed, since the standard hasher's values may change with the compiler.
struct CodeHash(Sha256);

impl Hasher for CodeHash {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        let digest: [u8; 32] = self.0.clone().finalize().into();
        let (first, _) = digest.split_first_chunk().expect("it is longer");
        u64::from_le_bytes(*first)
    }
}

/// Instances reserved for one guest.
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

/// Compile a component ahead of time, for handlers and plugins alike, without an engine's
/// reservations. With a `target` triple the code uses only features of a named
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
