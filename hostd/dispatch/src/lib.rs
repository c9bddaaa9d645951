//! Jobs of a server: taken in, stored, queued, carried out, explained and kept.
//!
//! ```text
//! submit ─> intake ─> driver <─> scheduler      driver ─ store first ─> attempts ─> jobs::Runner
//!                       ^                                                  │
//!                       └───────────── started, ended ─────────────────────┘
//! ```
//!
//! One task, the driver, owns the queue. Every event is turned into decisions, these are stored in one transaction,
//! and only then carried out. So whoever kills the process between any two steps finds the job again, and no attempt
//! whose test has said something runs twice.

mod aside;
mod attempt;
mod behind;
mod bench;
mod board;
mod checked;
mod driver;
mod ending;
mod error;
mod facts;
mod files;
mod follow;
mod history;
mod intake;
mod isolation;
mod left;
mod log;
mod meter;
mod network;
mod notice;
mod numbers;
mod pages;
mod quota;
mod record;
mod restore;
mod service;
mod submission;
mod tidy;
mod trust;
mod turns;
mod why;

pub use bench::{Benches, Grant, Looking, Opened};
pub use checked::{Checked, CheckedRun, Doubt, Warning, Wish};
pub use error::{JobError, OpenError};
pub use files::{ATTEMPT_FILES, DEFINITION};
pub use history::{CaseHistory, History, Looked, Seen, Went};
pub use intake::{NewJob, Source};
pub use left::{JobCapture, job_captures};
pub use log::Log;
pub use meter::{Figures, WAIT_BUCKETS_S, Waits};
pub use notice::{message, standing};
pub use numbers::{NAMES_MAX, Named, Numbers, OF_JOB_MAX, Wanted};
pub use pages::Page;
pub use record::{Outcome, axes, outcome_of, outcome_of_run};
pub use scheduler::{Axes, EndedBecause, State, Status, Verdict};
pub use service::{Begun, Filter, Jobs, Parts, Submitted, Submitter};
pub use trust::trust;
pub use why::{BlockedDevice, Obstacle, Why, WhyRun};
