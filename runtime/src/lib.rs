//! Runs handlers: WebAssembly components that export `bench:host/http`.
//!
//! This crate knows the engine, instances, limits and failures, and nothing of what a handler is
//! for. The embedder decides what a handler may reach by what it adds to the [`Engine::linker`];
//! only `bench:host/http-types` is linked here. A handler that loops, recurses, eats memory, panics
//! or answers nonsense costs its own request and one instance, never the process.
//!
//! ```text
//! Engine ── linker ── load/compile ── Handler::new ── Handler::call(request, data) ─> Reply
//!                                       │ admission: at most `in_flight_max`, a share each, bounded wait
//!                                       │ pool: an idle instance, or a new one
//!                                       └ watch: deadline, compute time, memory, stack, response
//! ```

mod backtrace;
mod block_on;
mod engine;
mod failure;
mod handler;
mod instance;
mod meter;
mod metrics;
mod options;
mod pool;
mod reply;
mod section;
mod state;
mod stream;
mod upgrade;

pub use bindings::bench::host::http_types::{
    Body, Caller, Credential, Credentials, Request, Response, Role, Route,
};
pub use engine::{Engine, EngineError, EngineOptions, TICK_MS, precompile};
pub use failure::{CallError, LoadError};
pub use handler::Handler;
pub use metrics::{BUCKETS_US, Metrics};
pub use options::{HandlerOptions, Mode};
pub use reply::{BadResponse, Reply, ReplyBody};
pub use section::custom_section;
pub use state::{CallData, State};
pub use stream::BodyStream;
pub use upgrade::Upgrade;

/// Generated from `wit/`: the records that go in and out, and the handler export.
#[allow(
    missing_docs,
    unreachable_pub,
    unsafe_code,
    clippy::all,
    clippy::pedantic,
    clippy::restriction,
    reason = "generated code"
)]
pub mod bindings {
    wasmtime::component::bindgen!({
        path: "../wit",
        world: "handler",
        imports: { default: async },
        exports: { default: async },
        with: {
            "bench:host/http-types.body-stream": crate::BodyStream,
            "bench:host/http-types.upgrade": crate::Upgrade,
        },
    });
}
