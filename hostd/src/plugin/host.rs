//! What the host offers to plugins: one file per interface of `wit/plugin/` under `host/`. Each asks whether the plugin was
//! granted it and whether the caller may, makes one call and maps the error.
//!
//! Every interface is linked into every plugin. What was not granted refuses, and says what is missing: a plugin with
//! a wish that nobody granted still does the rest of its work.

use std::time::Instant;

use runtime::State;
use wasmtime::component::Linker;

use super::bindings::imports::hostd::plugin as offers;
use super::call::PluginCall;
use crate::host::Context;
use offers::types::Error;

pub(super) mod captures;
mod clock;
mod config;
pub(super) mod devices;
pub(super) mod http_out;
pub(super) mod jobs;
mod log;
mod notify;
mod power;
mod random;
mod secrets;
mod store;

/// What links interfaces to calls of plugins.
pub(super) type PluginLinker = Linker<State<PluginCall>>;

/// Give `linker` every interface of the package `hostd:plugin`.
///
/// # Errors
/// One of them is there already.
pub(super) fn link(linker: &mut PluginLinker) -> wasmtime::Result<()> {
    captures::link(linker)?;
    clock::link(linker)?;
    config::link(linker)?;
    devices::link(linker)?;
    http_out::link(linker)?;
    jobs::link(linker)?;
    log::link(linker)?;
    notify::link(linker)?;
    power::link(linker)?;
    random::link(linker)?;
    secrets::link(linker)?;
    store::link(linker)
}

/// An error as plugins get it: a stable code, and a sentence that says what to do.
pub(super) fn refusal(code: &str, message: impl Into<String>) -> Error {
    Error {
        code: code.to_owned(),
        message: message.into(),
    }
}

/// The wait that was asked for, as far as the call has time for it.
fn within(context: &Context, asked_ms: u32) -> u32 {
    let left = context.answer_by.saturating_duration_since(Instant::now());
    asked_ms.min(u32::try_from(left.as_millis()).unwrap_or(u32::MAX))
}
