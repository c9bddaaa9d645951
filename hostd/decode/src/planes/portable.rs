//! Bit planes without SIMD: eight samples per multiplication, and no work at all for blocks in
//! which no watched channel changes.

use super::{BLOCK, Block, Kernel, LANES, Taps};

/// A block with its planes already gathered.
struct Gathered([u64; LANES]);

impl Block for Gathered {
    #[inline(always)]
    fn plane(&self, lane: usize) -> u64 {
        self.0[lane]
    }
}

/// A sample of 1..=8 bytes as a number.
#[inline]
pub(super) fn sample_word(sample: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    bytes[..sample.len()].copy_from_slice(sample);
    u64::from_le_bytes(bytes)
}

pub(super) fn run<K: Kernel>(raw: &[u8], taps: &Taps, at: u64, kernel: &mut K) {
    match taps.unit {
        1 => run_blocks::<1, K>(raw, taps, at, kernel),
        2 => run_blocks::<2, K>(raw, taps, at, kernel),
        3 => run_blocks::<3, K>(raw, taps, at, kernel),
        4 => run_blocks::<4, K>(raw, taps, at, kernel),
        5 => run_blocks::<5, K>(raw, taps, at, kernel),
        6 => run_blocks::<6, K>(raw, taps, at, kernel),
        7 => run_blocks::<7, K>(raw, taps, at, kernel),
        _ => run_blocks::<8, K>(raw, taps, at, kernel),
    }
}

fn run_blocks<const UNIT: usize, K: Kernel>(raw: &[u8], taps: &Taps, at: u64, kernel: &mut K) {
    let mask = taps.mask();
    let mut at = at;
    let mut last = None;
    let mut blocks = raw.chunks_exact(BLOCK * UNIT);
    for block in &mut blocks {
        if last.is_some_and(|last| is_quiet::<UNIT>(block, last, mask)) {
            kernel.quiet(at, BLOCK as u64);
        } else {
            kernel.block(at, 64, &gather::<UNIT>(block, taps));
            last = Some(sample_word(&block[block.len() - UNIT..]) & mask);
        }
        at += BLOCK as u64;
    }
    run_rest(blocks.remainder(), taps, at, kernel);
}

/// Takes the remaining samples, fewer than a block: padded with the last one, which adds no edge.
pub(super) fn run_rest<K: Kernel>(rest: &[u8], taps: &Taps, at: u64, kernel: &mut K) {
    let count = u32::try_from(rest.len() / taps.unit).expect("less than a block remains");
    if count == 0 {
        return;
    }
    let mut planes = [0; LANES];
    let mut levels = 0;
    for (index, sample) in rest.chunks_exact(taps.unit).enumerate() {
        levels = taps.levels(sample);
        for (lane, plane) in planes.iter_mut().enumerate() {
            *plane |= (levels >> lane & 1) << index;
        }
    }
    for (lane, plane) in planes.iter_mut().enumerate() {
        *plane |= (levels >> lane & 1).wrapping_neg() << (count - 1);
    }
    kernel.block(at, count, &Gathered(planes));
}

/// Whether all samples of a block equal `last` in the watched bits.
#[inline(always)]
fn is_quiet<const UNIT: usize>(block: &[u8], last: u64, mask: u64) -> bool {
    if 8 % UNIT != 0 {
        return block
            .chunks_exact(UNIT)
            .all(|sample| sample_word(sample) & mask == last);
    }
    let (last, mask) = (replicate::<UNIT>(last), replicate::<UNIT>(mask));
    let mut moved = 0;
    for word in block.as_chunks::<8>().0 {
        moved |= (u64::from_le_bytes(*word) & mask) ^ last;
    }
    moved == 0
}

/// A sample repeated over eight bytes.
#[inline(always)]
fn replicate<const UNIT: usize>(sample: u64) -> u64 {
    let ones = match UNIT {
        1 => 0x0101_0101_0101_0101,
        2 => 0x0001_0001_0001_0001,
        4 => 0x0000_0001_0000_0001,
        _ => 1,
    };
    sample.wrapping_mul(ones)
}

#[inline(always)]
fn gather<const UNIT: usize>(block: &[u8], taps: &Taps) -> Gathered {
    let mut planes = [0; LANES];
    for (plane, bit) in planes.iter_mut().zip(taps.bits) {
        let Some(bit) = bit else { continue };
        *plane = match UNIT {
            1 => gather_u8(block, bit),
            2 => gather_u16(block, bit),
            _ => gather_any::<UNIT>(block, bit),
        };
    }
    Gathered(planes)
}

/// Eight samples per word: the wanted bits, one per byte, are multiplied into the top byte.
#[inline(always)]
fn gather_u8(block: &[u8], bit: u32) -> u64 {
    let mut plane = 0;
    for (index, word) in block.as_chunks::<8>().0.iter().enumerate() {
        let bits = u64::from_le_bytes(*word) >> bit & 0x0101_0101_0101_0101;
        plane |= (bits.wrapping_mul(0x0102_0408_1020_4080) >> 56) << (index * 8);
    }
    plane
}

/// Four samples per word, likewise.
#[inline(always)]
fn gather_u16(block: &[u8], bit: u32) -> u64 {
    let mut plane = 0;
    for (index, word) in block.as_chunks::<8>().0.iter().enumerate() {
        let bits = u64::from_le_bytes(*word) >> bit & 0x0001_0001_0001_0001;
        plane |= (bits.wrapping_mul(0x1000_2000_4000_8000) >> 60) << (index * 4);
    }
    plane
}

#[inline(always)]
fn gather_any<const UNIT: usize>(block: &[u8], bit: u32) -> u64 {
    let samples = block.chunks_exact(UNIT).enumerate();
    samples.fold(0, |plane, (index, sample)| {
        plane | (sample_word(sample) >> bit & 1) << index
    })
}
