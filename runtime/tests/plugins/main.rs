//! Guests of a world that the runtime has never heard of: crimes, sessions, the engine for plugins.

#![allow(clippy::unwrap_used, reason = "a test crate throughout")]

mod crimes;
mod engines;
mod sessions;
mod world;
