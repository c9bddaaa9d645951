//! A device of the lab as a run of a pipeline uses it: each step enters by the run's lease, does one thing, and ends
//! with the step's time, a cancel, or the lease.
//!
//! [`Rig`] is the device of one run. [`capabilities`] tells what a device offers, for finding one that fits.
//!
//! Everything here blocks, as a run does: the work itself is done on the runtime of the lab.

mod capabilities;
mod capture;
mod decoding;
mod device;
mod errors;
mod flash;
mod judging;
mod measuring;
mod picture;
mod replay;
mod turn;
mod uart;
mod wiring;

pub use capabilities::capabilities;
pub use device::{Hold, Lab, Rig};
pub use judging::view;
pub use wiring::Wiring;
