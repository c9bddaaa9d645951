//! Runs guests: WebAssembly components of any world, handlers (`hostd:host/http`) above all.
//!
//! This crate knows the engine, instances, limits and failures, and nothing of what a guest is
//! for. The embedder decides what a guest may reach by what it adds to the [`Engine::linker`];
//! only `hostd:host/http-types` is linked here. A guest that loops, recurses, eats memory, panics
//! or answers nonsense costs its own call and one instance, never the process.
//!
//! ```text
//! Engine ── linker ── load/compile ── Guest::new ── Guest::call(id, data, invoke) ─> answer
//!    │                                  │   ├─ Guest::call_apart ── the same, on a thread of lower priority
//!    │                                  │   └─ Guest::session ── Session::call or call_apart, again and again
//!    │                                  │ admission: at most `in_flight_max`, a share each, bounded wait
//!    │                                  │ pool: an idle instance, or a new one
//!    │                                  └ watch: deadline, compute time, memory, stack, answer
//!    └─ Engine::plugins: a second one, for components of many parts
//!
//! Handler = Guest of the world `handler` + routes + check of responses
//! ```
//!
//! Other worlds: generate bindings with `wasmtime::component::bindgen!`, name them to [`exports!`],
//! and implement [`Invoke`] for each call.

mod backtrace;
mod block_on;
mod engine;
mod exports;
mod failure;
mod guest;
mod handler;
mod instance;
mod meter;
mod metrics;
mod options;
mod pool;
mod reply;
mod section;
mod session;
mod state;
mod stream;
mod threads;
mod upgrade;

pub use bindings::hostd::host::http_types::{
    Body, Caller, Credential, Credentials, Request, Response, Role, Route,
};
pub use engine::{Engine, EngineError, EngineOptions, TICK_MS, precompile};
pub use exports::{Exports, Invoke};
pub use failure::{CallError, LoadError};
pub use guest::Guest;
pub use handler::{Handler, is_withheld};
pub use metrics::{BUCKETS_US, Metrics};
pub use options::{GuestOptions, HandlerOptions, Mode};
pub use reply::{BadResponse, Reply, ReplyBody};
pub use section::custom_section;
pub use session::Session;
pub use state::{CallData, State};
pub use stream::{BodyStream, Trailers};
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
            "hostd:host/http-types.body-stream": crate::BodyStream,
            "hostd:host/http-types.upgrade": crate::Upgrade,
        },
    });
}
