//! Pods that dial in: what goes over the WebSocket that a pod behind a router opens to its server.
//!
//! The pod proves with its Ed25519 key who it is ([`login`]). Then both sides send text frames, each a JSON object that
//! says in `type` what it is ([`FromPod`], [`ToPod`]). Single commands have messages of their own; everything else goes
//! through *tunnels*, whose bytes are those of a connection on the network. Only the server opens and closes tunnels. A
//! link that breaks takes all of them with it.
//!
//! ```text
//! pod     {"type":"capabilities","device_id":"01J…","firmware_version":"3.9.4",…}
//! server  {"type":"tunnel.open","tunnel_id":"t1"}
//! server  {"type":"tunnel.data","tunnel_id":"t1","data_b64":"eyJjbWQiOiJwaW5nIn0K"}
//! pod     {"type":"tunnel.data","tunnel_id":"t1","data_b64":"eyJzdGF0dXMiOiJvayIsImRhdGEiOiJwb25nIn0K"}
//! ```

use std::time::Duration;

mod data;
pub mod login;
mod message;
#[cfg(test)]
mod tests;

pub use data::{decode, frame, len};
pub(crate) use message::fuzz;
pub use message::{FromPod, MessageError, ToPod};

/// Tunnels that a pod has open at once. It ignores one more, so the server counts.
pub const TUNNELS_MAX: usize = 3;

/// Longest frame to a pod.
pub const TO_POD_BYTES_MAX: usize = 2047;

/// Longest frame that a server takes from a pod: far more than any answer to a single command.
pub const FROM_POD_BYTES_MAX: usize = 256 * 1024;

/// Raw bytes that a pod sends in one `tunnel.data`.
pub const POD_DATA_BYTES: usize = 768;

/// Raw bytes that a server sends in one `tunnel.data`: as published clients cut them, so that the frame stays below
/// [`TO_POD_BYTES_MAX`] with its envelope.
pub const SERVER_DATA_BYTES: usize = 1024;

/// Longest id of a tunnel or a request.
pub(crate) const ID_BYTES_MAX: usize = 63;

/// Frames that a pod keeps before it has read them. It drops the link when there are more.
pub const POD_BUFFER_BYTES: usize = 16 * 1024;

/// How often a pod pings, by the ping of WebSockets.
pub const PING_EVERY: Duration = Duration::from_secs(6);

/// A side that has heard nothing for so long, not even a pong, takes the link for dead.
pub const SILENCE_MAX: Duration = Duration::from_secs(20);

/// First pause of a pod between two attempts to connect; each failure doubles it.
pub const BACKOFF_MIN: Duration = Duration::from_secs(2);

/// The longest such pause.
pub const BACKOFF_MAX: Duration = Duration::from_secs(30);

/// A link that has lasted so long ends the doubling.
pub const STABLE_AFTER: Duration = Duration::from_secs(10);

/// Longest text with which a pod refuses a command, in characters.
pub(crate) const REFUSAL_CHARS_MAX: usize = 319;

/// How the addresses of pods that dial in begin.
pub const SCHEME: &str = "dial";
