//! The host that the hostile guest meets: an engine, a linker with the `probe` interface, a gate
//! at which calls park until the test lets them go.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use bytes::Bytes;
use runtime::{
    BodyStream, CallData, CallError, Engine, EngineOptions, Handler, HandlerOptions, Mode, Reply,
    ReplyBody, Request, State,
};
use tokio::sync::{Semaphore, mpsc};
use wasmtime::component::{Component, HasSelf, Linker, Resource, ResourceTable};

#[allow(
    unreachable_pub,
    unsafe_code,
    clippy::all,
    clippy::pedantic,
    clippy::restriction,
    reason = "generated code"
)]
mod bindings {
    wasmtime::component::bindgen!({
        path: ["../wit", "guests/hostile/wit"],
        world: "test:hostile/hostile",
        imports: { default: async | trappable },
        with: { "hostd:host/http-types": runtime::bindings::hostd::host::http_types },
    });
}

use bindings::test::hostile::probe;

/// Calls park here.
pub(crate) struct Gate {
    parked: Semaphore,
    open: Semaphore,
    /// Calls that got a place.
    begun: AtomicU32,
}

impl Gate {
    /// Wait until `calls` more calls are parked.
    pub(crate) async fn parked(&self, calls: u32) {
        self.parked.acquire_many(calls).await.unwrap().forget();
    }

    /// How many calls have got a place.
    pub(crate) fn begun(&self) -> u32 {
        self.begun.load(Ordering::Relaxed)
    }

    /// Let `calls` calls go on.
    pub(crate) fn release(&self, calls: usize) {
        self.open.add_permits(calls);
    }
}

/// One call's data.
pub(crate) struct Probe {
    table: ResourceTable,
    gate: Arc<Gate>,
}

impl CallData for Probe {
    fn table(&mut self) -> &mut ResourceTable {
        &mut self.table
    }

    fn begin(&mut self) {
        self.gate.begun.fetch_add(1, Ordering::Relaxed);
    }
}

impl probe::Host for Probe {
    async fn echo(&mut self, n: u32) -> wasmtime::Result<u32> {
        Ok(n)
    }

    async fn park(&mut self) -> wasmtime::Result<()> {
        self.gate.parked.add_permits(1);
        self.gate.open.acquire().await?.forget();
        Ok(())
    }

    async fn refuse(&mut self) -> wasmtime::Result<()> {
        wasmtime::bail!("the host refuses")
    }

    async fn open_stream(&mut self) -> wasmtime::Result<Resource<BodyStream>> {
        let (sender, parts) = mpsc::channel(1);
        sender.send(Ok(Bytes::from_static(b"streamed"))).await?;
        let stream = BodyStream::new(Some("text/x-stream".to_owned()), parts);
        Ok(self.table.push(stream)?)
    }
}

/// A handler on a stage of its own.
pub(crate) struct Stage {
    pub(crate) handler: Handler<Probe>,
    pub(crate) gate: Arc<Gate>,
}

/// Options that tests change one or two of. Times are short, since they are waited for, yet long
/// enough for a busy machine to serve a well-behaved call.
pub(crate) fn options() -> HandlerOptions {
    HandlerOptions {
        name: "hostile".to_owned(),
        mode: Mode::Pooled { calls_max: 1_000 },
        in_flight_max: 8,
        queued_max: 64,
        queue_wait_ms_max: 60_000,
        deadline_ms: 60_000,
        compute_ms_max: 10_000,
        memory_bytes_max: 16 << 20,
        memory_kept_bytes_max: 8 << 20,
        response_bytes_max: 1 << 20,
        ..HandlerOptions::default()
    }
}

pub(crate) fn engine() -> Engine {
    Engine::new(&EngineOptions {
        instances_max: 16,
        memory_bytes_max: 64 << 20,
    })
    .unwrap()
}

pub(crate) fn guest_path() -> PathBuf {
    PathBuf::from(env!("HOSTD_HANDLERS")).join("guests/hostile.wasm")
}

pub(crate) fn guest() -> Vec<u8> {
    let path = guest_path();
    std::fs::read(&path)
        .unwrap_or_else(|e| panic!("{}: {e}; run cargo xtask handlers", path.display()))
}

pub(crate) fn linker(engine: &Engine) -> Linker<State<Probe>> {
    let mut linker = engine.linker();
    probe::add_to_linker::<_, HasSelf<Probe>>(&mut linker, |state: &mut State<Probe>| {
        &mut state.data
    })
    .unwrap();
    linker
}

impl Stage {
    pub(crate) fn new(options: HandlerOptions) -> Self {
        let engine = engine();
        let component = engine.compile(&guest()).unwrap();
        Self::with(&engine, &component, options).unwrap()
    }

    pub(crate) fn with(
        engine: &Engine,
        component: &Component,
        options: HandlerOptions,
    ) -> Result<Self, runtime::LoadError> {
        let gate = Arc::new(Gate {
            parked: Semaphore::new(0),
            open: Semaphore::new(0),
            begun: AtomicU32::new(0),
        });
        let placeholder = gate.clone();
        let make = move || Probe {
            table: ResourceTable::new(),
            gate: placeholder.clone(),
        };
        let handler = Handler::new(engine, &linker(engine), component, options, make)?;
        Ok(Self { handler, gate })
    }

    /// Ask the guest to commit `crime`.
    pub(crate) async fn commit(&self, crime: &str) -> Result<Reply, CallError> {
        let request = Request {
            id: format!("request-{crime}"),
            route: 0,
            params: Vec::new(),
            query: crime.to_owned(),
            headers: ["accept", "connection", "host", "content-length"]
                .map(|name| (name.to_owned(), "0".to_owned()))
                .to_vec(),
            body: b"{}".to_vec(),
            caller: None,
        };
        let data = Probe {
            table: ResourceTable::new(),
            gate: self.gate.clone(),
        };
        self.handler.call(request, data).await
    }

    /// Ask for `crime` and read the answer.
    pub(crate) async fn answer(&self, crime: &str) -> String {
        text(self.commit(crime).await.unwrap()).await
    }

    /// A harmless request is answered.
    pub(crate) async fn still_answers(&self) {
        assert_eq!(self.answer("none").await, "ok");
    }
}

/// The whole body of a reply.
pub(crate) async fn text(reply: Reply) -> String {
    let bytes = match reply.body {
        ReplyBody::Empty => Vec::new(),
        ReplyBody::Bytes(bytes) => bytes.to_vec(),
        ReplyBody::Stream(mut stream) => {
            let mut all = Vec::new();
            while let Some(part) = stream.recv().await {
                all.extend_from_slice(&part.unwrap());
            }
            all
        }
        ReplyBody::Upgrade(_) => panic!("an upgrade has no body"),
    };
    String::from_utf8(bytes).unwrap()
}
