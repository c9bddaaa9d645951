//! Runs a stranger's program on this machine: in its own namespaces, without a network unless it is given one, bounded in what it
//! uses, and gone when the server is.
//!
//! ```no_run
//! use jail::{Jail, Options, Slot, Spec, Streams};
//!
//! // The first line of `main`, since jails are made by executing this program anew.
//! jail::entry();
//! let jail = Jail::open(&Options::default())?;
//! let slot = Slot::new(0).expect("a low number");
//! let build = Spec::new("make", "/srv/job", slot).arguments(["-j2"]);
//! let end = jail.spawn(&build, Streams::default())?.wait()?;
//! println!("{:?}, memory held by {}", end.how, jail.bounds().memory);
//! # Ok::<(), jail::Error>(())
//! ```
//!
//! `docs/jail.md` says what is promised and what is not. Linux only: the design is based on its
//! namespaces.

mod background;
mod bounds;
mod child;
mod compute;
mod doctor;
mod error;
mod etc;
mod gauge;
mod groups;
mod jail;
mod lack;
mod reach;
mod slot;
mod spec;
mod stage;
mod usage;
mod wire;
mod worker;

pub use background::stand_back;
pub use bounds::{Bounds, Hold, Kernel};
pub use child::{Child, End, How, Killer};
pub use compute::only_compute;
pub use doctor::{Report, Version, probe};
pub use error::Error;
pub use etc::own_files;
pub use gauge::Gauge;
pub use jail::{Jail, Options};
pub use lack::Lack;
pub use reach::Reach;
pub use slot::Slot;
pub use spec::{
    BINDS_MAX, Bind, Limits, MEMORY_BYTES_MIN, RELAY_CONNECTIONS_MAX, RELAY_PORT, Spec, Stream,
    Streams, TREE_FOLDERS,
};
pub use stage::{entry, relay_fuzz};
pub use usage::{COUNTED_DEPTH_MAX, COUNTED_ENTRIES_MAX, ENTRY_BYTES, Usage, disk_use};
pub use worker::{
    LimitHit, REASON_BYTES_MAX, Worker, WorkerError, WorkerLimits, confine, lacks_memory,
};
