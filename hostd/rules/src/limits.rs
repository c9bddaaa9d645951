//! Bounds of an evaluation. Those of the language are in `pipeline::limits`.

use std::time::Duration;

/// Places that a result has of one rule; how many there are is counted beyond.
pub const PLACES_MAX: usize = 16;

/// How long all rules together may be evaluated by a server, a job's step or the command line.
pub const TIME_MAX: Duration = Duration::from_secs(60);

pub use pipeline::limits::GOLDEN_BYTES_MAX;

/// Edges of a golden file, all channels together.
pub const GOLDEN_EDGES_MAX: usize = 200_000;

/// Points that a golden file has of one analog channel.
pub const GOLDEN_POINTS_MAX: usize = 10_000;

/// Golden files that the rules of one list compare with.
pub const GOLDEN_FILES_MAX: usize = 16;

/// Lanes of a picture.
pub(crate) const LANES_MAX: usize = 8;

/// Bytes of a UART or an SPI word that a result repeats.
pub(crate) const SHOWN_BYTES_MAX: usize = 16;
