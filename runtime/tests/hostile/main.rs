//! Hostile guests: whatever one request does, it costs that request and at most its instance, and
//! everything else still answers.
//!
//! What the guest can do is listed in `runtime/guests/hostile/src/crimes.rs`.

#![allow(clippy::unwrap_used, reason = "a test crate throughout")]

mod limits;
mod load;
mod logs;
mod pool;
mod responses;
mod stage;
