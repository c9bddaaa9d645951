//! WASI 0.2 for guests that have no system: toolchains of Go, Python and JavaScript import most of
//! it, used or not.
//!
//! Granted are clocks, random numbers, the environment that the embedder gives, and standard output
//! and error as log lines; input and arguments are empty. Files, sockets and the rest are there,
//! since components do not load without them, but each of their functions ends the call with
//! [`NotGranted`]. Nothing here can reach a file or a socket.
//!
//! A used instance keeps handles from one call to the next (of its standard output, for instance),
//! so these do not live in the table of a call: [`Wasi::inherit`] hands them on.

mod cli;
mod clocks;
mod denied;
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
}

/// Implements the interfaces for the data of one call.
pub struct View<'a, W>(pub &'a mut W);

/// What one call has: its environment, and how much it has printed.
#[derive(Debug, Default)]
pub struct Wasi {
    environment: Arc<[(String, String)]>,
    pollables: Pollables,
    lines: Lines,
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

    /// Take over the handles that the guest keeps from `previous`, whose last unfinished lines are
    /// passed on.
    pub fn inherit(&mut self, previous: &mut impl WasiData) {
        flush(previous);
        self.pollables = std::mem::take(&mut previous.wasi().pollables);
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
