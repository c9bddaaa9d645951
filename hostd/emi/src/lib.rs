//! Boards in, findings on electromagnetic interference out.
//!
//! The crate only computes: it is given the bytes of files, knows no file, no clock and no async, and uses rayon for work
//! that can run in parallel. It finds known mistakes; it never says that a board passes.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod board;
mod check;
mod copper;
mod emission;
pub mod fields;
mod finding;
mod found;
pub mod fuzz;
pub mod geometry;
pub mod kicad;
mod kinds;
mod limits;
mod observer;
mod pattern;
mod reference;
mod refusal;
mod report;
mod rules;
mod settings;
mod sexp;
pub mod solve;
mod words;

pub use check::{Counts, Report, Summary, check};
pub use emission::{
    CableBudget, CableLine, CableReport, Compliance, Emission, Judged, cable, compliance,
};
pub use finding::{Finding, Place, Severity};
pub use found::SHOWN_MAX;
pub use limits::Limits;
pub use observer::{Cancelled, Observer, Stop};
pub use pattern::Pattern;
pub use reference::rules_page;
pub use refusal::{Position, Refusal};
pub use rules::{Assumption, Param, RULES, Rule};
pub use settings::{Cable, Clock, RulesFile, Settings, quantity};
