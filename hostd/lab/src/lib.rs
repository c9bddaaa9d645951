//! The devices of a bench and all that is done with them: captures, leases, consoles, tunnels, firmware,
//! waveforms, and the files that come and go with it.
//!
//! It knows pods, decoders and the store. It knows no HTTP, no WebAssembly and no credential: whoever
//! calls has found out who asks and whether they may.

pub mod blobs;
pub mod builds;
pub mod captures;
pub mod devices;
pub mod flashing;
pub mod leases;
pub mod replay;
pub mod tunnel;
pub mod uart;
pub mod updates;
pub mod waveforms;
