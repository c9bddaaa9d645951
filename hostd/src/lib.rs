//! The bench server as a library: everything but argument parsing, so that tests and benches can
//! use its parts. `main.rs` is the binary.

pub mod admin;
pub mod backup;
pub mod benches;
pub mod cli;
pub mod demo;
pub mod drivers;
pub mod events;
mod found;
pub mod groups;
pub mod holders;
pub mod host;
pub mod http;
pub mod local;
pub mod opening;
pub mod operator;
pub mod plugin;
mod registers;
pub mod serve;
pub mod services;
mod sigrok;
mod summary;
pub mod usb;
