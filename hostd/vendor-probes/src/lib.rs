//! Debug probes that speak protocols of their makers, J-Link and ST-Link, as CMSIS-DAP probes.
//!
//! ```text
//!   CMSIS-DAP packets --> Probe --> thread: Front --> Port --+--> Swd --> J-Link: bits on the wire
//!                           ^                                |
//!   answers ----------------+                                +--> ST-Link: accesses to registers
//! ```
//!
//! The drivers are those of probe-rs. They block, so each open [`Probe`] has a thread of its own. The [`Front`] is the
//! part of a CMSIS-DAP probe's firmware that takes commands apart; a [`Port`] is what such a firmware does on the wires.
//! The crate knows no server and no pod.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod fields;
mod front;
#[doc(hidden)]
pub mod fuzzing;
mod jlink;
mod port;
mod probe;
mod stlink;
mod swd;

#[cfg(test)]
mod tests;

pub use front::{Front, PACKET_BYTES, PACKETS};
pub use port::{Access, Accessed, Ack, Port, PortError};
pub use probe::{Driver, Probe, Where};
