//! Boards in, findings on electromagnetic interference out.
//!
//! The crate only computes: it is given the bytes of files, knows no file, no clock and no async, and uses rayon for work
//! that can run in parallel. It finds known mistakes; it never says that a board passes.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod artifact;
pub mod board;
mod check;
mod copper;
mod diff;
mod drawing;
mod emission;
mod excellon;
pub mod fields;
mod finding;
mod found;
pub mod fuzz;
pub mod geometry;
mod gerber;
mod ipc356;
pub mod kicad;
mod kinds;
mod limits;
mod locate;
mod observer;
mod open;
mod page;
mod pattern;
mod plain;
mod raster;
mod reference;
mod refusal;
mod report;
mod rules;
mod sarif;
mod settings;
mod sexp;
pub mod solve;
mod source;
mod stored;
mod svg;
mod viewer;
mod words;

pub use artifact::{
    ARTIFACTS, Artifact, Kind as ArtifactKind, artifact, artifact_since, artifacts, artifacts_since,
};
pub use check::{Counts, Report, Summary, check};
pub use diff::{Change, Cut, Diff, DiffSummary, Kept, PerSeverity, diff};
pub use drawing::POINTS_MAX as DRAWING_POINTS_MAX;
pub use emission::{
    CableBudget, CableLine, CableReport, Compliance, Emission, Judged, cable, compliance,
};
pub use finding::{Finding, Place, Severity};
pub use found::SHOWN_MAX;
pub use limits::Limits;
pub use observer::{Cancelled, Observer, Stop};
pub use open::{OpenError, Opened, RULES_FILE, Source, open};
pub use page::BYTES_MAX as PAGE_BYTES_MAX;
pub use pattern::Pattern;
pub use raster::SIDE_DOTS as PNG_SIDE_DOTS;
pub use reference::rules_page;
pub use refusal::{Position, Refusal};
pub use rules::{Assumption, Param, RULES, Rule};
pub use settings::{Cable, Clock, RulesFile, Settings, quantity};
pub use source::{SourceFile, TextPlace};
pub use stored::{STORED_BYTES_MAX, Stored, StoredError, StoredFinding};
