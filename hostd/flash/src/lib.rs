//! Programs a microcontroller through a CMSIS-DAP debug probe, wherever that probe is.
//!
//! ```text
//!   bytes of a file --> Image ---+
//!                                v
//!   chip, options --------> Request ---> run ---> Report or FlashError
//!                                        |  \
//!                        Progress <------+   DapLink: packets to the probe and back
//! ```
//!
//! [`run`] blocks its thread until the firmware is on the chip, is read back and runs, or until a [`Stop`] ends
//! it; a [`Debugger`] keeps the session, to look at the core. The flash algorithms, and most of the knowledge about
//! chips, come from probe-rs; this crate adds the link to the probe, the guard against the wrong chip, images, and
//! errors that a user can act on. It knows no pod, no async runtime and no HTTP.
#![forbid(unsafe_code)]

mod chips;
mod debug;
mod error;
mod identity;
pub mod image;
mod inspect;
mod job;
mod link;
mod packets;
mod place;
mod probe;
mod progress;
mod request;
mod stop;

pub use chips::{Meaning, check_chip, chip_refusal};
pub use debug::{Access, DebugFailure, Debugger, Watchpoint, Wish};
pub use error::{Cause, FlashError};
pub use image::Image;
pub use inspect::{Effect, Inspection, inspect};
pub use job::run;
pub use link::{DapLink, LinkError};
pub use probe::{SPEED_KHZ_DEFAULT, open_probe};
pub use progress::{Phase, Progress};
pub use request::{EXTENTS_NAMED_MAX, Programmed, Report, Request, named};
pub use stop::Stop;
