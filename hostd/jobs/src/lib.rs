//! Carries out what a pipeline comes to: each run of a build in a copy of the sources, step by step in a jail, with
//! its log, its artifacts and its cache; each run of a bench on a device that is given to it ([`Bench`]).
//!
//! ```no_run
//! use jobs::{Cancel, Live, Options, Request, Runner};
//!
//! // The first line of `main`, since jails are made by executing this program anew.
//! jail::entry();
//! let text = std::fs::read_to_string("pipeline.yml")?;
//! let caps = pipeline::Caps::default();
//! let plan = pipeline::expand(&pipeline::parse(&text, &caps).expect("it is right"), &caps);
//! let runner = Runner::open(Options::new("/var/cache/hostd"))?;
//! let (live, _events) = Live::new();
//! let job = runner.run(&Request::new(&plan, ".", "out"), &live, &Cancel::default())?;
//! println!("{}", job.verdict().sentence());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Everything here blocks the thread that calls it. A job's own code is trusted with nothing: what it leaves in its
//! folder is read only after all its processes have ended, and no link in it is followed.

mod artifacts;
mod attempt;
mod below;
mod bench;
mod build;
mod cache;
mod cancel;
mod cases;
mod disk;
mod image;
mod job;
mod judge;
mod live;
mod log;
mod measured;
mod micros;
mod outcome;
mod place;
mod pytest;
mod recorded;
mod report;
mod request;
mod results;
mod runner;
mod script;
mod select;
mod step;
mod task;
mod timeline;
mod toolchain;
mod tree;

pub use artifacts::Artifact;
pub use bench::{
    Bench, BenchError, Benches, Decoding, Flashed, Found, Judging, Link, Loan, Quantity, Recording,
    Relay, Ruled, Ruling, Supply, Taken, Transfer, TransferPart, Until,
};
pub use cache::{CacheOwner, Layer};
pub use cancel::{Cancel, Watching};
pub use cases::FILE as CASES_FILE;
pub use image::{IMAGE_MS_MAX, ImageOptions};
pub use job::{Job, Verdict};
pub use live::{Event, Events, Live};
pub use log::LogSummary;
pub use outcome::{Breakage, Clock, Failure, Outcome, Skip};
pub use recorded::{Recorded, capture_files, encoded};
pub use report::{
    CaptureFile, Files, Subject, Timeline, cases_of, result_of, run_result, spans, write_log,
    write_reports,
};
pub use request::{Request, captures};
pub use results::{CaptureEnd, RunEnd, Span, StepEnd};
pub use runner::{OpenError, Options, Runner, StartError};
pub use select::{UnknownRun, select};
pub use task::{Task, Watch, secrets_of};
pub use timeline::{Mark, Reading};
