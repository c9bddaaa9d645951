//! Captures from afar: what each channel does in stretches of samples, one level for each factor of eight.
//!
//! A pyramid is made block by block while a capture is encoded, and kept in a file of its own beside it. It can be made
//! again from the capture. A *cell* is a stretch of `1 << level` samples, aligned: the levels that a logic channel has in
//! it, or the lowest and the highest count of an analog one. Cells of all channels lie in chunks, each packed with zstd and
//! checksummed:
//!
//! ```text
//! header   magic[8]  version u32  channels u32  crc32 u32
//! chunk    packed u8 (0 no, 1 zstd)  cells
//! …
//! index    samples u64  levels u32  per level: chunks u32
//!          per level, per chunk: offset u64  length u32  crc32 u32
//! trailer  index offset u64  crc32 of the index u32  magic[8]
//!
//! logic    per channel: u8, the one state of all cells, or 0; of those with 0: two bits a cell, low ones first
//! analog   lowest counts, then highest ones, each as differences: low bytes, then high bytes
//! ```
//!
//! The coarsest level is the first that one chunk holds: coarser cells are put together from it.

mod cells;
mod chunks;
mod file;
mod make;
mod tiles;
mod zoom;

pub use file::Pyramid;
pub(crate) use make::{AnalogPyramid, LogicPyramid};
pub use make::{of_analog, of_logic};
pub use tiles::{analog_stretches, logic_stretches};
pub use zoom::Zoom;

/// Level of the finest cells, as the power of two of their samples. Below it, reading the capture itself is as quick.
pub const FINEST_LEVEL: u32 = 9;

/// Levels from one stored one to the next: a factor of eight.
pub const LEVEL_STEP: u32 = 3;

/// Cells of a full chunk.
const CHUNK_CELLS: usize = 8192;

/// The level at which the longest capture is one cell.
pub const LEVEL_MAX: u32 = crate::segment::SAMPLES_MAX.ilog2();

/// A logic channel was low in a cell.
pub const LOW: u8 = 1;

/// A logic channel was high in a cell.
pub const HIGH: u8 = 2;
