//! A typical small request: parse a JSON body, look up one key in the host's store, answer JSON.
//!
//! The work itself is plain Rust, so that `cargo xtask bench runtime` can run the same code inside
//! a handler and outside.

#[cfg(all(target_arch = "wasm32", feature = "component"))]
mod component;
mod work;

pub use work::{BadRequest, answer};
