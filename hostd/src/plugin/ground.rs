//! What all plugins stand on: an engine of their own, made with the first of them, and the interfaces of the host.

use base::config::PluginsConfig;
use runtime::{Engine, EngineError, EngineOptions, Exports, Guest, GuestOptions, LoadError};
use virtual_wasi::View;
use wasmtime::component::Component;

use super::call::PluginCall;
use super::host::{self, PluginLinker};
use super::outbound::Outbound;

/// Engine and linker of plugins.
#[derive(Debug)]
pub(super) struct Ground {
    engine: Engine,
    linker: Linked,
    memory_mib_max: u32,
    outbound: Outbound,
}

struct Linked(PluginLinker);

impl std::fmt::Debug for Linked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Linked")
    }
}

/// Why there is no ground.
#[derive(Debug, thiserror::Error)]
pub(super) enum GroundError {
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error("link the interfaces of plugins")]
    Link(#[source] wasmtime::Error),
    #[error("read plugins.http_allow and plugins.http_deny: {0}")]
    Networks(String),
}

impl Ground {
    /// Beside the engine of the groups that come with the server.
    pub(super) fn new(first: &Engine, config: &PluginsConfig) -> Result<Self, GroundError> {
        let engine = first.plugins(&EngineOptions {
            memory_bytes_max: (config.memory_mib_max as usize) << 20,
            ..EngineOptions::plugins(config.instances_max)
        })?;
        let mut linker = engine.linker::<PluginCall>();
        host::link(&mut linker).map_err(GroundError::Link)?;
        Ok(Self {
            engine,
            linker: Linked(linker),
            memory_mib_max: config.memory_mib_max,
            outbound: Outbound::new(config).map_err(GroundError::Networks)?,
        })
    }

    pub(super) fn engine(&self) -> &Engine {
        &self.engine
    }

    pub(super) fn outbound(&self) -> &Outbound {
        &self.outbound
    }

    pub(super) fn memory_mib_max(&self) -> u32 {
        self.memory_mib_max
    }

    /// Whether a component exports the interface `name`, of any version.
    pub(super) fn exports(&self, component: &Component, name: &str) -> bool {
        let engine = component.engine();
        let kind = component.component_type();
        kind.exports(engine).any(|(export, _)| {
            let known = export.strip_prefix(name);
            known.is_some_and(|rest| rest.is_empty() || rest.starts_with('@'))
        })
    }

    pub(super) fn guest<X: Exports<PluginCall>>(
        &self,
        component: &Component,
        options: GuestOptions,
        make: impl Fn() -> PluginCall + Send + Sync + 'static,
    ) -> Result<Guest<PluginCall, X>, LoadError> {
        let mut linker = self.linker.0.clone();
        let linked = virtual_wasi::link(&mut linker, component, |state| View(&mut state.data));
        linked.map_err(|source| LoadError::Link {
            title: format!("plugin {}", options.name),
            source,
        })?;
        Guest::new(&self.engine, &linker, component, options, make)
    }
}
