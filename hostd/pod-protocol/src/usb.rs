//! A pod on USB: what its descriptors say, and the *link* that carries many connections over one pair of bulk
//! endpoints.
//!
//! Everything here is the same for both ends: it works over any reader and writer, so that it is tested without USB.
//! The page about the pod protocol, section "USB", is the specification.

mod channel;
mod drive;
mod frame;
mod frames;
#[doc(hidden)]
pub mod fuzzing;
mod greeting;
mod inbox;
mod link;
mod outbox;
mod parcels;
mod shared;
mod stream;
mod wires;

pub use frame::{FRAME_BYTES_MAX, FRAME_BYTES_MIN, TRANSFER_BYTES};
pub use greeting::{CHANNELS_MAX, NONCE_BYTES, Terms, WINDOW_BYTES_MAX};
pub use link::{KEEP_ALIVE, Link, LinkError, SILENCE_MAX};
pub use stream::LinkStream;
pub use wires::{Incoming, Outgoing, Room, Transfer};

/// Class, subclass and protocol of the interface that carries the link: vendor specific, then `B` and the version.
/// They tell a pod, whatever its vendor and product numbers are.
pub const INTERFACE: (u8, u8, u8) = (0xFF, b'B', 1);

/// What the name of the interface of a CMSIS-DAP v2 probe contains, as its specification demands.
pub const CMSIS_DAP_NAME: &str = "CMSIS-DAP";

/// The request to the link's interface (vendor, host to device, no data) that ends the link: the pod closes every
/// connection, forgets what it wanted to send, and waits for a greeting.
pub const REQUEST_RESET: u8 = 1;

#[cfg(test)]
mod tests;
