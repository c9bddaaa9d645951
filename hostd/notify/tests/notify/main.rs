//! Deliveries to receivers of all kinds: each is told at least once, under one id, within bounds.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod authorities;
mod keys;
mod plugins;
mod repositories;
mod stage;
mod unreadable;
mod webhooks;
