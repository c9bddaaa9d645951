//! The devices of a bench and everything done with them: captures, leases, consoles, tunnels, firmware,
//! waveforms, and the files involved.
//!
//! It knows pods, decoders and the store. It knows no HTTP, no WebAssembly and no credential: the
//! caller has already checked who is asking and what they may do.

pub mod builds;
pub mod captures;
pub mod decoders;
pub mod devices;
pub mod flashing;
pub mod leases;
pub mod replay;
pub mod target;
pub mod telemetry;
pub mod tunnel;
pub mod uart;
pub mod updates;
pub mod waveforms;
pub mod wiring;

// What the types here are made of and return.
pub use blobs;
