//! The analysis of boards as a service: projects, uploads, boards, runs, and what comes of them.
//!
//! ```text
//! begin_upload ─ key, signature ─> keep ─> create_board ─ a run `ingest` ─> queue ─> child process ─> artifacts, facts
//!                                             create_run ─ other kinds ──────┘
//! ```
//!
//! What is owed is stored before it is done: a run that a crash of the server caught waits again after the restart. What a
//! stranger's file does to the code that reads it costs one run: it is read in a child that can only compute.
//!
//! It knows no HTTP, no WebAssembly and no credential: the caller has already checked who is asking and what they may do.

#![forbid(unsafe_code)]

mod artifact;
mod attended;
mod boards;
mod child;
mod children;
mod compute;
mod error;
mod findings;
mod fuzzing;
mod link;
mod meter;
mod page;
mod projects;
mod queue;
mod runner;
mod runs;
mod service;
mod solver;
mod tidy;
mod uploads;
mod wire;

pub mod fuzz {
    //! Arbitrary bytes as what a child sends: what fuzzers and the seeded tests call.
    pub use crate::fuzzing::frames;
}

pub use boards::Lookup;
pub use child::serve;
pub use children::{Children, VERB};
pub use error::Error;
pub use findings::Filter;
pub use link::Signed;
pub use meter::Figures;
pub use page::{LIST_MAX, Listed, Page};
pub use runner::{Event, Made, Product, Runner, Unfinished, Unwanted, Work};
pub use service::{Analysis, Parts};
pub use uploads::{Admitted, Begun, NewUpload, Received};

#[cfg(test)]
mod tests;
