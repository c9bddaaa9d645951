//! Decoders of a package without a server: for `hostd decode --plugin`, and to measure.
//!
//! There is no organisation, so no grant: the decoder has its log, which goes to standard error, and the defaults of its
//! configuration. Whatever else it imports traps when it is called.

use std::sync::Arc;

use anyhow::{Context as _, bail};
use decode::Decoder;
use decode::foreign::{Foreign, ForeignDecoding, ForeignError, Input, Setup};
use plugins::compile::{Compiler, LIMITS};
use plugins::package::Package;
use runtime::{CallData, Engine, EngineOptions, Guest, State};
use tokio::runtime::{Builder, Runtime};
use virtual_wasi::{Output, Wasi, WasiData};
use wasmtime::component::{Component, HasData, Linker, ResourceTable};

use super::calls::Decoders as List;
use super::{DECODING, Known, Running, World, described};
use crate::plugin::COMPILE_VERB;
use crate::plugin::bindings::imports::hostd::plugin as offers;
use crate::plugin::contract;
use crate::plugin::ground::GroundError;
use crate::plugin::loaded;

/// Lines that one decoding may write.
const LINES_MAX: u32 = 100;

/// The decoders of one package, and what they run on.
#[derive(Debug)]
pub struct Offline {
    title: String,
    known: Vec<Known>,
    config: Arc<str>,
    guest: Arc<Guest<Data, World>>,
    runtime: Runtime,
}

impl Offline {
    /// Compile a package in a process of its own and ask it for its decoders.
    ///
    /// # Errors
    /// It does not compile, has no decoders, or fails.
    pub fn open(package: &Package) -> anyhow::Result<Arc<Self>> {
        let runtime = runtime()?;
        let program = std::env::current_exe().context("find this program")?;
        let compiler = Compiler::new(program, vec![COMPILE_VERB.into()], LIMITS);
        let code = runtime.block_on(compiler.compile(package.component().into()));
        let code = code.with_context(|| format!("compile {}", package.manifest().id))?;
        Self::start(package, runtime, |engine| engine.load(&code))
    }

    /// The same for a package that is known to do no harm, compiled by this process.
    ///
    /// # Errors
    /// As of [`Offline::open`].
    pub fn open_trusted(package: &Package) -> anyhow::Result<Arc<Self>> {
        Self::start(package, runtime()?, |engine| {
            engine.compile(package.component())
        })
    }

    fn start(
        package: &Package,
        runtime: Runtime,
        component: impl FnOnce(&Engine) -> Result<Component, runtime::LoadError>,
    ) -> anyhow::Result<Arc<Self>> {
        let manifest = package.manifest();
        if !contract::API.serves(manifest.api) {
            bail!(
                "use {}: it needs hostd:plugin {}, and this hostd offers {}; get a newer hostd",
                manifest.id,
                manifest.api,
                contract::VERSION
            );
        }
        let options = super::options(loaded::options(manifest));
        let first = Engine::new(&EngineOptions {
            instances_max: 1,
            ..EngineOptions::default()
        })?;
        let engine = first.plugins(&EngineOptions {
            memory_bytes_max: options.memory_bytes_max,
            ..EngineOptions::plugins(options.in_flight_max)
        })?;
        let component = component(&engine)?;
        let linker = linker(&engine, &component).map_err(GroundError::Link)?;
        let config: Arc<str> = defaults(package).into();
        let idle = config.clone();
        let make = move || Data::new(idle.clone());
        let mut guest = Guest::new(&engine, &linker, &component, options, make)
            .with_context(|| format!("load {}; it needs the export {DECODING}", manifest.id))?;
        let declared = guest.start(List).context("read its decoders")?;
        Ok(Arc::new(Self {
            title: format!("plugin {} {}", manifest.id, manifest.version),
            known: described::checked(manifest.id.as_str(), declared)?,
            config,
            guest: Arc::new(guest),
            runtime,
        }))
    }

    /// A decoder by its id, with or without that of the plugin before it.
    #[must_use]
    pub fn find(self: &Arc<Self>, id: &str) -> Option<Arc<dyn Foreign>> {
        let mut known = self.known.iter();
        let known = known.find(|known| known.id == id || known.decoder.id == id)?;
        Some(Arc::new(Used {
            all: self.clone(),
            known: known.clone(),
        }))
    }

    /// Ids of all.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.known.iter().map(|known| known.decoder.id.as_str())
    }
}

#[derive(Debug)]
struct Used {
    all: Arc<Offline>,
    known: Known,
}

impl Foreign for Used {
    fn decoder(&self) -> &Arc<Decoder> {
        &self.known.decoder
    }

    fn input(&self) -> Input {
        self.known.input
    }

    fn title(&self) -> &str {
        &self.all.title
    }

    fn begin(&self, setup: &Setup<'_>) -> Result<Box<dyn ForeignDecoding>, ForeignError> {
        let handle = self.all.runtime.handle();
        let running = Running::begin(
            handle.clone(),
            &self.all.guest,
            ("decode", Data::new(self.all.config.clone())),
            &self.known,
            setup,
        );
        Ok(Box::new(handle.block_on(running)?))
    }
}

/// What a decoder without a server has.
#[derive(Debug)]
pub(super) struct Data {
    config: Arc<str>,
    table: ResourceTable,
    wasi: Wasi,
    lines: u32,
}

impl Data {
    fn new(config: Arc<str>) -> Self {
        Self {
            config,
            table: ResourceTable::new(),
            wasi: Wasi::default(),
            lines: 0,
        }
    }

    fn print(&mut self, line: &str) {
        self.lines += 1;
        if self.lines <= LINES_MAX {
            tracing::info!("{line}");
        }
    }
}

impl CallData for Data {
    fn table(&mut self) -> &mut ResourceTable {
        &mut self.table
    }
}

impl WasiData for Data {
    fn wasi(&mut self) -> &mut Wasi {
        &mut self.wasi
    }

    fn line(&mut self, _: Output, line: &str) {
        self.print(line);
    }
}

struct View<'a>(&'a mut Data);

impl HasData for View<'static> {
    type Data<'a> = View<'a>;
}

impl offers::log::Host for View<'_> {
    async fn write(&mut self, _: offers::log::Level, message: String) -> wasmtime::Result<()> {
        self.0.print(&described::line(&message));
        Ok(())
    }
}

impl offers::config::Host for View<'_> {
    async fn get(&mut self) -> wasmtime::Result<String> {
        Ok(self.0.config.to_string())
    }
}

/// What calls of decoders wait on.
fn runtime() -> anyhow::Result<Runtime> {
    let mut builder = Builder::new_multi_thread();
    let built = builder.worker_threads(1).enable_all().build();
    built.context("start a runtime")
}

fn linker(engine: &Engine, component: &Component) -> wasmtime::Result<Linker<State<Data>>> {
    let mut linker = engine.linker::<Data>();
    offers::log::add_to_linker::<_, View<'static>>(&mut linker, |state| View(&mut state.data))?;
    offers::config::add_to_linker::<_, View<'static>>(&mut linker, |state| View(&mut state.data))?;
    virtual_wasi::link(&mut linker, component, |state: &mut State<Data>| {
        virtual_wasi::View(&mut state.data)
    })?;
    linker.define_unknown_imports_as_traps(component)?;
    Ok(linker)
}

/// What the manifest's `[config]` comes to with nothing set, as JSON.
fn defaults(package: &Package) -> String {
    let (values, _) = package.manifest().config.effective(&serde_json::Map::new());
    serde_json::Value::Object(values).to_string()
}
