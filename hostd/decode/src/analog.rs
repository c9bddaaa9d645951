//! Stored analog captures: 16-bit counts of a converter, lossless.
//!
//! Blocks of 64 Ki samples in the container that logic segments use. A block keeps the differences
//! between neighbouring samples, folded so that small ones of either sign become small numbers,
//! with low bytes and high bytes apart, packed with zstd: in a quiet signal the high bytes are all
//! zero and cost nothing. Each block also records its lowest and highest count, for a zoomed-out
//! view.

mod encoder;
mod segment;
mod threshold;

pub use encoder::AnalogEncoder;
pub use segment::{AnalogSegment, Extent};
pub use threshold::{LOGIC_SAMPLES_MAX, ThresholdError};

/// Samples in a full block.
pub const ANALOG_BLOCK_SAMPLES: u32 = 1 << 16;

/// Wrapping differences with the sign in the lowest bit; all low bytes first, then all high bytes.
pub(crate) fn fold(samples: &[u16]) -> Vec<u8> {
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

/// Restores the samples that were given to `fold`.
pub(crate) fn unfold(bytes: &[u8], out: &mut Vec<u16>) {
    let (low, high) = bytes.split_at(bytes.len() / 2);
    let mut last: u16 = 0;
    for (low, high) in low.iter().zip(high) {
        let folded = u16::from_le_bytes([*low, *high]);
        let difference = folded >> 1 ^ (folded & 1).wrapping_neg();
        last = last.wrapping_add(difference);
        out.push(last);
    }
}
