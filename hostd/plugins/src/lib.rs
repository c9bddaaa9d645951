//! Plugins: what they ask for, what they were granted, where their bytes are, and in which state they are.
//!
//! ```text
//! file or folder ─> package ─ manifest, signature ─> installed: files and records ─ compile ─> cache
//! wants (asked) ─ operator ─> grant (stored) ─ with the caller ─> rights of one call
//! ```
//!
//! It knows no HTTP server and no wasmtime: whoever serves plugins asks it what is installed and what a call may do.

#![forbid(unsafe_code)]

pub mod allow;
pub mod cache;
pub mod compile;
pub mod cron;
pub mod folder;
pub mod fuzz;
pub mod grant;
pub mod granted;
pub mod id;
pub mod installed;
pub mod interface;
pub mod manifest;
pub mod missing;
mod own_file;
pub mod package;
pub mod rights;
pub mod settings;
pub mod signature;
pub mod target;
#[cfg(test)]
mod testing;
pub mod wants;
