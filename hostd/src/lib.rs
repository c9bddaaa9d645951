//! The bench server as a library: everything but argument parsing, so that tests and benches can
//! hold its parts. `main.rs` is the binary.

pub mod admin;
pub mod backup;
pub mod bench;
pub mod blobs;
pub mod builds;
pub mod captures;
pub mod cli;
pub mod clock;
pub mod config;
pub mod demo;
pub mod flashing;
pub mod groups;
pub mod host;
pub mod http;
pub mod id;
pub mod identity;
pub mod leases;
pub mod logging;
pub mod oidc;
pub mod pins;
pub mod private;
pub mod replay;
pub mod ring;
#[cfg(test)]
mod seeded;
pub mod serve;
pub mod services;
pub mod space;
pub mod store;
pub mod tunnel;
pub mod uart;
pub mod updates;
pub mod waveforms;
