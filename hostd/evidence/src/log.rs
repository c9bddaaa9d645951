//! The log of an attempt: everything its steps wrote, in order, each piece with its time, stream and
//! step. It only ever grows at its end, so that followers read the same file while it is being
//! written.
//!
//! ```text
//! frame    header (28 bytes, little-endian), then its bytes
//!          length u32, step u16, stream u8, kind u8, time u64 (µs), offset u64, checksum u32
//! kind 0   output. `offset` is the place of its first byte among all bytes of output.
//! kind 1   bytes that were dropped before here; no bytes, and `time` is their number.
//! index    16 bytes for each 64 KiB of output: offset u64, place of that frame in the log u64
//! ```
//!
//! The checksum is the CRC-32 of the header before it and of the bytes. A frame that is incomplete or
//! does not match its checksum is the end: it is being written, or was when the machine crashed. The
//! index saves reading from the beginning and may be lost or wrong; every entry in it is checked.

mod frame;
mod reader;
#[cfg(test)]
mod tests;
mod writer;

pub use frame::{FRAME_BYTES_MAX, Stream};
pub use reader::{Piece, Reader, Recovered, recover};
pub use writer::{Summary, TAIL_BYTES, Writer};
