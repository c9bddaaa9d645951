//! WASI 0.2 for guests that have no system: toolchains of Go, Python and JavaScript import most of
//! it, used or not.
//!
//! Granted are clocks, random numbers, the environment that the embedder gives, and standard output
//! and error as log lines; input and arguments are empty. A guest may answer requests (`wasi:http`), and
//! send those that the embedder takes. Files, sockets and the rest are there,
//! since components do not load without them, but each of their functions ends the call with
//! [`NotGranted`]. Nothing here can reach a file or a socket.
//!
//! A used instance keeps handles from one call to the next (of its standard output, for instance),
//! so these do not live in the table of a call: [`Wasi::inherit`] hands them on.

mod cli;
mod clocks;
mod denied;
pub mod http;
mod lines;
mod poll;
mod random;
mod streams;

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use wasmtime::component::{Component, HasData, Linker};

pub use cli::Exited;
pub use denied::NotGranted;
pub use lines::{LINE_BYTES_MAX, LINES_MAX, Output};
pub use poll::POLLABLES_MAX;
pub use random::RANDOM_BYTES_MAX;

use lines::Lines;
use poll::Pollables;

/// Generated from `wit/`.
#[allow(
    missing_docs,
    unreachable_pub,
    unsafe_code,
    clippy::all,
    clippy::pedantic,
    clippy::restriction,
    reason = "generated code"
)]
mod bindings {
    wasmtime::component::bindgen!({
        path: "wit",
        world: "hostd:virtual-wasi/granted",
        imports: { default: async | trappable },
        with: {
            "wasi:io/error.error": crate::streams::Error,
            "wasi:io/poll.pollable": crate::poll::Pollable,
            "wasi:io/streams.input-stream": crate::streams::Input,
            "wasi:io/streams.output-stream": crate::lines::Output,
            "wasi:cli/terminal-input.terminal-input": crate::cli::TerminalInput,
            "wasi:cli/terminal-output.terminal-output": crate::cli::TerminalOutput,
            "wasi:http/types.fields": crate::http::fields::Fields,
            "wasi:http/types.incoming-request": crate::http::incoming::IncomingRequest,
            "wasi:http/types.outgoing-request": crate::http::outgoing::OutgoingRequest,
            "wasi:http/types.request-options": crate::http::outgoing::RequestOptions,
            "wasi:http/types.response-outparam": crate::http::response::ResponseOutparam,
            "wasi:http/types.incoming-response": crate::http::incoming::IncomingResponse,
            "wasi:http/types.incoming-body": crate::http::incoming::IncomingBody,
            "wasi:http/types.future-trailers": crate::http::incoming::FutureTrailers,
            "wasi:http/types.outgoing-response": crate::http::response::OutgoingResponse,
            "wasi:http/types.outgoing-body": crate::http::response::OutgoingBody,
            "wasi:http/types.future-incoming-response": crate::http::errand::Errand,
        },
    });
}

/// The embedder's data of one call.
pub trait WasiData: Send {
    /// Where the state is kept.
    fn wasi(&mut self) -> &mut Wasi;

    /// The guest printed a line: at most [`LINE_BYTES_MAX`] bytes of the guest's, without
    /// characters that control a terminal.
    fn line(&mut self, output: Output, line: &str);

    /// The guest answers the request that it was called with, or says why it does not. What it writes into the body comes
    /// later. Called at most once in a call of [`http::IncomingHandler`].
    ///
    /// # Errors
    /// It cannot be sent, which ends the call.
    fn answer(&mut self, answer: Result<http::Response, http::ErrorCode>) -> wasmtime::Result<()> {
        drop(answer);
        wasmtime::bail!("answer a request: nobody asked")
    }

    /// Send a request of the guest, whose body it may still be writing. What is returned is driven on a task of its own, so
    /// that a tokio runtime is needed, and dropped when the guest does not wait for it any more.
    ///
    /// # Errors
    /// It is not sent.
    fn send(&mut self, request: http::Outgoing) -> Result<http::Sending, http::ErrorCode> {
        drop(request);
        Err(http::ErrorCode::HttpRequestDenied)
    }
}

/// Implements the interfaces for the data of one call.
pub struct View<'a, W>(pub &'a mut W);

/// What one call has: its environment, and how much it has printed.
#[derive(Debug, Default)]
pub struct Wasi {
    environment: Arc<[(String, String)]>,
    pollables: Pollables,
    lines: Lines,
    http: http::Http,
}

impl Wasi {
    /// For a guest that sees `environment`, and nothing of the process's own.
    #[must_use]
    pub fn new(environment: Arc<[(String, String)]>) -> Self {
        Self {
            environment,
            ..Self::default()
        }
    }

    /// Whether the guest keeps requests, responses, or parts of them. An embedder that goes on with the instance lets them
    /// pile up, each with as much as a body has.
    #[must_use]
    pub fn keeps_messages(&self) -> bool {
        !self.http.table.is_empty()
    }

    /// Take over the handles that the guest keeps from `previous`, whose last unfinished lines are
    /// passed on.
    pub fn inherit(&mut self, previous: &mut impl WasiData) {
        flush(previous);
        let previous = previous.wasi();
        self.pollables = std::mem::take(&mut previous.pollables);
        self.http = http::Http::inherited(&mut previous.http);
    }
}

/// Pass unfinished lines on: for the end of a call.
pub fn flush(data: &mut impl WasiData) {
    for output in [Output::Stdout, Output::Stderr] {
        if let Some(line) = data.wasi().lines.rest(output) {
            data.line(output, &line);
        }
    }
}

/// Add all that `component` may import below `wasi:`, granted or denied, in whichever version 0.2.x
/// it asks for. What else it imports is up to the caller. A guest that waits needs a tokio runtime
/// with time, and somebody who ends the call at its deadline.
///
/// # Errors
/// The linker has such an interface already.
pub fn link<T: Send + 'static, W: WasiData + 'static>(
    linker: &mut Linker<T>,
    component: &Component,
    view: fn(&mut T) -> View<'_, W>,
) -> wasmtime::Result<()> {
    bindings::Granted::add_to_linker::<T, Granted<W>>(linker, view)?;
    denied::link(linker, component)
}

struct Granted<W>(PhantomData<W>);

impl<W: 'static> HasData for Granted<W> {
    type Data<'a> = View<'a, W>;
}

impl<W> fmt::Debug for View<'_, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("View")
    }
}
