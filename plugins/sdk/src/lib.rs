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
//! On any machine but the host, the host's functions are those of a [`testing::Double`], so that a plugin is tested like
//! every other crate, with `cargo test`.

mod bindings;
mod error;
pub mod host;
mod request;
mod response;
mod route;
#[cfg(not(target_arch = "wasm32"))]
pub mod testing;

pub use error::Error;
pub use host::{clock, config, devices, log, power, random, secrets, store};
pub use request::{Caller, Request};
pub use response::Response;
pub use route::{Route, answer};
#[doc(hidden)]
pub use route::{declared, handle};

#[doc(hidden)]
pub use bindings::handler as handler_bindings;
