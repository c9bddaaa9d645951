//! What plugins of hostd are written with, in Rust.
//!
//! A plugin that answers requests is a table of routes, each with a plain function:
//!
//! ```ignore
//! use hostd_plugin::{Error, Request, Response, Route, devices};
//!
//! static ROUTES: &[Route] = &[Route::get("devices", "/devices", devices)
//!     .scope("bench:control")
//!     .summary("Names of the devices")];
//!
//! hostd_plugin::handler!(ROUTES);
//!
//! fn devices(_: &Request) -> Result<Response, Error> {
//!     let names: Vec<_> = devices::list()?.iter().map(|device| device.name()).collect();
//!     Ok(Response::json(200, &names))
//! }
//! ```
//!
//! One that decodes protocols implements [`decoder::Decoder`].
//! One that makes documents is a table of [`Report`]s: `hostd_plugin::reporter!(REPORTS)`.
//! One that hears of events and timers is two functions: `hostd_plugin::subscriber!(on_event, on_timer)`, with
//! `fn on_event(event: &Event) -> Result<(), Error>` and `fn on_timer(timer: &Timer) -> Result<(), Error>`. An event that is
//! refused is told again.
//!
//! With the feature `schemas`, a build script describes endpoints by the types that they read and answer: `Operation`.
//!
//! On any machine but the host, the host's functions are those of a [`testing::Double`], so that a plugin is tested like
//! every other crate, with `cargo test`.

mod bindings;
pub mod decoder;
mod error;
pub mod host;
#[cfg(feature = "schemas")]
mod operation;
mod query;
mod report;
mod request;
mod response;
mod route;
mod subscriber;
#[cfg(not(target_arch = "wasm32"))]
pub mod testing;

pub use error::Error;
pub use host::{
    captures, clock, config, devices, http_out, jobs, log, notify, power, random, secrets, store,
};
#[cfg(feature = "schemas")]
pub use operation::{Operation, OperationError};
pub use report::{Artifact, Options, Report, Subject, report};
#[doc(hidden)]
pub use report::{kinds, render};
pub use request::{Caller, Request};
pub use response::Response;
pub use route::{Route, answer};
#[doc(hidden)]
pub use route::{declared, handle};

pub use subscriber::{Event, Timer};
#[doc(hidden)]
pub use subscriber::{hear, no_timer, strike};

#[doc(hidden)]
pub use bindings::{
    decoder as decoder_bindings, handler as handler_bindings, reporter as reporter_bindings,
    subscriber as subscriber_bindings,
};
