//! 64 samples turned into a word for each channel: with shifts and masks alone, where the CPU has nothing better.

use crate::planes::Fast;

/// Samples of a group.
pub(super) const GROUP: usize = 64;

/// Channels of a sample byte, and samples that are turned at once.
const EIGHT: usize = 8;

/// Levels of all channels in 64 samples of `unit` bytes (1..=8), little-endian: a word for each, sample 0 in the lowest bit.
/// Words of channels past the last bit of a sample are not changed.
#[inline(always)]
pub(super) fn planes(fast: Option<Fast>, raw: &[u8], unit: usize, planes: &mut [u64; 64]) {
    if fast.is_some_and(|fast| fast.planes(raw, unit, planes)) {
        return;
    }
    portable(raw, unit, planes);
}

#[inline(never)]
fn portable(raw: &[u8], unit: usize, planes: &mut [u64; 64]) {
    match unit {
        1 => turn::<1>(raw, planes),
        2 => turn::<2>(raw, planes),
        3 => turn::<3>(raw, planes),
        4 => turn::<4>(raw, planes),
        5 => turn::<5>(raw, planes),
        6 => turn::<6>(raw, planes),
        7 => turn::<7>(raw, planes),
        _ => turn::<8>(raw, planes),
    }
}

#[inline(always)]
fn turn<const UNIT: usize>(raw: &[u8], planes: &mut [u64; 64]) {
    // By byte of the sample and by eight samples: a byte for each channel.
    let mut turned = [[[0; EIGHT]; EIGHT]; UNIT];
    for (number, eight) in raw.chunks_exact(EIGHT * UNIT).enumerate() {
        for (byte, word) in bytes::<UNIT>(eight).into_iter().enumerate() {
            turned[byte][number] = transposed(word).to_le_bytes();
        }
    }
    for (turned, planes) in turned.iter().zip(planes.chunks_exact_mut(EIGHT)) {
        for (channel, plane) in planes.iter_mut().enumerate() {
            *plane = u64::from_le_bytes(turned.map(|eight| eight[channel]));
        }
    }
}

/// Eight samples as a word for each of their bytes.
#[inline(always)]
fn bytes<const UNIT: usize>(samples: &[u8]) -> [u64; UNIT] {
    let mut words = [0; UNIT];
    if UNIT == 2 {
        // The bytes of four samples take turns.
        for (half, four) in samples.as_chunks::<8>().0.iter().enumerate() {
            let four = u64::from_le_bytes(*four);
            for (byte, word) in words.iter_mut().enumerate() {
                *word |= every_second(four >> (8 * byte)) << (32 * half);
            }
        }
        return words;
    }
    for (at, sample) in samples.chunks_exact(UNIT).enumerate() {
        for (word, byte) in words.iter_mut().zip(sample) {
            *word |= u64::from(*byte) << (8 * at);
        }
    }
    words
}

/// Bytes 0, 2, 4 and 6, side by side.
#[inline(always)]
fn every_second(word: u64) -> u64 {
    let word = word & 0x00ff_00ff_00ff_00ff;
    let word = (word | word >> 8) & 0x0000_ffff_0000_ffff;
    (word | word >> 16) & 0xffff_ffff
}

/// Bit `i` of byte `j` becomes bit `j` of byte `i` (Warren, Hacker's Delight, 7-3).
#[inline(always)]
fn transposed(word: u64) -> u64 {
    let swap = |word: u64, by: u32, mask: u64| {
        let moved = (word ^ word >> by) & mask;
        word ^ moved ^ moved << by
    };
    let word = swap(word, 7, 0x00aa_00aa_00aa_00aa);
    let word = swap(word, 14, 0x0000_cccc_0000_cccc);
    swap(word, 28, 0x0000_0000_f0f0_f0f0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_comes_to_its_place() {
        let mut state = 88_172_645_463_325_252_u64;
        let mut byte = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_le_bytes()[3]
        };
        for unit in 1..=8 {
            let raw: Vec<u8> = (0..GROUP * unit).map(|_| byte()).collect();
            for fast in [Fast::detect(), None] {
                let mut found = [u64::MAX; 64];
                planes(fast, &raw, unit, &mut found);
                for (channel, plane) in found.iter().enumerate() {
                    for sample in 0..GROUP {
                        let expected = channel >= unit * 8
                            || raw[sample * unit + channel / 8] >> (channel % 8) & 1 != 0;
                        assert_eq!(
                            plane >> sample & 1 != 0,
                            expected,
                            "{unit} {channel} {sample}"
                        );
                    }
                }
            }
        }
    }
}
