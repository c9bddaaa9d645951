//! Stored analog captures: 16-bit counts of a converter, lossless.
//!
//! Blocks of 64 Ki samples in the container of the logic segments. A block keeps the differences
//! of neighbouring samples, folded so that small ones of either sign are small numbers, low bytes
//! and high bytes apart, packed with zstd: of a quiet signal the high bytes are all zero and cost
//! nothing. Each block also says its lowest and highest count, for a view from afar.

mod encoder;
mod segment;

pub use encoder::AnalogEncoder;
pub use segment::{AnalogSegment, Extent};

/// Samples in a full block.
pub const ANALOG_BLOCK_SAMPLES: u32 = 1 << 16;

/// Differences, wrapping, with the sign in the lowest bit; low bytes first, then high bytes.
fn fold(samples: &[u16]) -> Vec<u8> {
    let mut bytes = vec![0; samples.len() * 2];
    let (low, high) = bytes.split_at_mut(samples.len());
    let mut last = 0;
    for ((sample, low), high) in samples.iter().zip(low).zip(high) {
        let difference = sample.wrapping_sub(last).cast_signed();
        let folded = (difference << 1 ^ difference >> 15).cast_unsigned();
        [*low, *high] = folded.to_le_bytes();
        last = *sample;
    }
    bytes
}

/// The samples `fold` was given.
fn unfold(bytes: &[u8], out: &mut Vec<u16>) {
    let (low, high) = bytes.split_at(bytes.len() / 2);
    let mut last: u16 = 0;
    for (low, high) in low.iter().zip(high) {
        let folded = u16::from_le_bytes([*low, *high]);
        let difference = folded >> 1 ^ (folded & 1).wrapping_neg();
        last = last.wrapping_add(difference);
        out.push(last);
    }
}
