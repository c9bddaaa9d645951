//! The end-to-end tests: one binary, since each binary would link everything that the tests share, and
//! one module for each subject, whose name runs its tests: `cargo xtask test tests leases`.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod accounts;
mod administration;
mod backup;
mod bad_input;
mod bench_here;
mod boards;
mod builds;
mod cloud;
mod command_line;
mod connect;
mod connections;
mod console;
mod crowds;
mod decode;
mod dial;
mod disk;
mod docs;
mod emi;
mod examples;
mod faults;
mod flash;
mod flash_faults;
mod guides;
mod handlers;
mod http;
mod jobs;
mod leases;
mod live;
mod many_jobs;
mod names;
mod openapi;
mod orders;
mod pages;
mod parts;
mod people;
mod plugins;
mod pod_sim;
mod readme;
mod recordings;
mod restart;
mod revocation;
mod run;
mod secrets;
mod security;
mod session;
mod sign_in;
mod slow_readers;
mod submit;
mod trust;
mod uart;
mod updates;
mod waveforms;
mod webhooks;
