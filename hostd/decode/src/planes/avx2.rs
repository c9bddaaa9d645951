//! Bit planes with AVX2: shift the wanted bit to the top of its byte, then `movemask`.
//!
//! This is the only unsafe code in the crate. Every unsafe operation here is an intrinsic, and
//! every function that contains one is inlined into a `#[target_feature]` function that runs only
//! after [`is_available`]. (Closures around intrinsics are not inlined into such a function and run
//! twenty times slower, so these are plain functions.)

#![allow(unsafe_code, reason = "intrinsics; the CPU is asked before they run")]

use super::{BLOCK, Block, Kernel, LANES, Taps, Work, portable};
use std::arch::x86_64::{
    __m128i, __m256i, _mm_cvtsi32_si128, _mm256_add_epi8, _mm256_and_si256, _mm256_loadu_si256,
    _mm256_movemask_epi8, _mm256_or_si256, _mm256_packs_epi16, _mm256_packus_epi16,
    _mm256_permute4x64_epi64, _mm256_set1_epi16, _mm256_setzero_si256, _mm256_sll_epi16,
    _mm256_srli_epi16, _mm256_testz_si256, _mm256_xor_si256,
};

/// Shifting a 16-bit element this far leaves zero: the plane of a lane that is not connected.
const SHIFT_OUT: u32 = 16;

/// Bytes compared at a time while nothing changes.
const SKIP: usize = 256;

/// Blocks without an edge before skipping is tried: in busy traffic skipping would fail each time.
const PATIENCE: u32 = 2;

/// Whether this CPU has the features that this module uses.
pub(super) fn is_available() -> bool {
    std::is_x86_feature_detected!("avx2")
        && std::is_x86_feature_detected!("bmi1")
        && std::is_x86_feature_detected!("bmi2")
        && std::is_x86_feature_detected!("lzcnt")
        && std::is_x86_feature_detected!("popcnt")
}

/// Runs the kernel over `raw`, or returns `false` if this module does not support the CPU or the
/// sample size.
pub(super) fn run<K: Kernel>(raw: &[u8], taps: &Taps, at: u64, kernel: &mut K) -> bool {
    if !is_available() {
        return false;
    }
    match taps.unit {
        // SAFETY: needs exactly the features that `is_available` found.
        1 => unsafe { run_u8(raw, taps, at, kernel) },
        // SAFETY: likewise.
        2 => unsafe { run_u16(raw, taps, at, kernel) },
        _ => return false,
    }
    true
}

/// 64 one-byte samples in two registers.
struct Bytes {
    halves: [__m256i; 2],
    shifts: [__m128i; LANES],
}

impl Block for Bytes {
    #[inline(always)]
    fn plane(&self, lane: usize) -> u64 {
        // SAFETY: inlined into `run_u8`, which enables AVX2.
        unsafe {
            let low = mask(_mm256_sll_epi16(self.halves[0], self.shifts[lane]));
            let high = mask(_mm256_sll_epi16(self.halves[1], self.shifts[lane]));
            low | high << 32
        }
    }
}

/// 64 two-byte samples in four registers.
struct Words {
    quarters: [__m256i; 4],
    shifts: [__m128i; LANES],
}

impl Block for Words {
    #[inline(always)]
    fn plane(&self, lane: usize) -> u64 {
        let [a, b, c, d] = self.quarters;
        let shift = self.shifts[lane];
        // SAFETY: inlined into `run_u16`, which enables AVX2.
        unsafe { mask(narrow(a, b, shift)) | mask(narrow(c, d, shift)) << 32 }
    }
}

/// The top bits of 32 bytes.
///
/// # Safety
/// Needs AVX2.
#[inline(always)]
unsafe fn mask(bytes: __m256i) -> u64 {
    // SAFETY: the caller guarantees AVX2.
    u64::from(unsafe { _mm256_movemask_epi8(bytes) }.cast_unsigned())
}

/// 32 two-byte samples as 32 bytes that keep the sign of the shifted sample.
///
/// # Safety
/// Needs AVX2.
#[inline(always)]
unsafe fn narrow(low: __m256i, high: __m256i, shift: __m128i) -> __m256i {
    // SAFETY: the caller guarantees AVX2. The permutation undoes the lane order of the pack.
    unsafe {
        let packed =
            _mm256_packs_epi16(_mm256_sll_epi16(low, shift), _mm256_sll_epi16(high, shift));
        _mm256_permute4x64_epi64::<0b11_01_10_00>(packed)
    }
}

/// Loads 32 bytes of a block, starting at `at`.
///
/// # Safety
/// Needs AVX2.
#[inline(always)]
unsafe fn load<const N: usize>(block: &[u8; N], at: usize) -> __m256i {
    debug_assert!(at + 32 <= N);
    // SAFETY: the callers' offsets are constants with 32 bytes after them; the load is unaligned.
    unsafe { _mm256_loadu_si256(block.as_ptr().add(at).cast()) }
}

/// How far each lane must be shifted so that its bit `top` is the sign.
///
/// # Safety
/// Needs AVX2.
#[inline(always)]
unsafe fn shifts(taps: &Taps, top: u32) -> [__m128i; LANES] {
    taps.bits.map(|bit| {
        let shift = bit.map_or(SHIFT_OUT, |bit| top - bit);
        // SAFETY: SSE2 is part of x86-64.
        unsafe { _mm_cvtsi32_si128(shift.cast_signed()) }
    })
}

/// Whether all samples in `SKIP` bytes equal `last` in the watched bits.
///
/// # Safety
/// Needs AVX2.
#[inline(always)]
unsafe fn is_quiet(block: &[u8; SKIP], last: __m256i, watched: __m256i) -> bool {
    // SAFETY: the caller guarantees AVX2; see `load` for the offsets.
    unsafe {
        let mut moved = _mm256_xor_si256(load(block, 0), last);
        for at in (32..SKIP).step_by(32) {
            moved = _mm256_or_si256(moved, _mm256_xor_si256(load(block, at), last));
        }
        _mm256_testz_si256(moved, watched) != 0
    }
}

/// Runs the kernel over blocks of `BYTES` bytes. While nothing changes, it only compares larger
/// pieces with the last sample.
///
/// # Safety
/// Needs AVX2, and must be inlined into a function that enables it.
#[inline(always)]
unsafe fn run_blocks<const BYTES: usize, K: Kernel>(
    raw: &[u8],
    taps: &Taps,
    at: u64,
    kernel: &mut K,
    block: impl Block + Load<BYTES>,
) {
    let mut block = block;
    // SAFETY: the caller guarantees AVX2.
    let watched = unsafe { repeat(taps.unit, taps.mask()) };
    let (mut at, mut rest) = (at, raw);
    let mut quiet_blocks = 0;
    while let Some((now, later)) = rest.split_first_chunk::<BYTES>() {
        block.load(now);
        quiet_blocks = if kernel.block(at, 64, &block) {
            0
        } else {
            quiet_blocks + 1
        };
        at += BLOCK as u64;
        rest = later;
        if quiet_blocks < PATIENCE {
            continue;
        }
        let last = portable::sample_word(&now[BYTES - taps.unit..]);
        // SAFETY: the caller guarantees AVX2.
        let last = unsafe { repeat(taps.unit, last) };
        let from = at;
        while let Some((now, later)) = rest.split_first_chunk::<SKIP>()
            // SAFETY: the caller guarantees AVX2.
            && unsafe { is_quiet(now, last, watched) }
        {
            at += (SKIP / taps.unit) as u64;
            rest = later;
        }
        if from < at {
            kernel.quiet(from, at - from);
        }
        quiet_blocks = 0;
    }
    portable::run_rest(rest, taps, at, kernel);
}

/// Repeats a sample of one or two bytes in every element of a register.
///
/// # Safety
/// Needs AVX2.
#[inline(always)]
unsafe fn repeat(unit: usize, sample: u64) -> __m256i {
    let [low, high, ..] = sample.to_le_bytes();
    let pair = i16::from_le_bytes([low, if unit == 1 { low } else { high }]);
    // SAFETY: the caller guarantees AVX2.
    unsafe { _mm256_set1_epi16(pair) }
}

/// A block that loads `BYTES` raw bytes into registers.
trait Load<const BYTES: usize> {
    fn load(&mut self, raw: &[u8; BYTES]);
}

impl Load<BLOCK> for Bytes {
    #[inline(always)]
    fn load(&mut self, raw: &[u8; BLOCK]) {
        // SAFETY: inlined into `run_u8`, which enables AVX2; see `load` for the offsets.
        self.halves = unsafe { [load(raw, 0), load(raw, 32)] };
    }
}

impl Load<{ BLOCK * 2 }> for Words {
    #[inline(always)]
    fn load(&mut self, raw: &[u8; BLOCK * 2]) {
        // SAFETY: inlined into `run_u16`, which enables AVX2; see `load` for the offsets.
        self.quarters = unsafe { [load(raw, 0), load(raw, 32), load(raw, 64), load(raw, 96)] };
    }
}

/// # Safety
/// Needs the features it enables.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn run_u8<K: Kernel>(raw: &[u8], taps: &Taps, at: u64, kernel: &mut K) {
    // SAFETY: AVX2 is enabled here.
    unsafe {
        let block = Bytes {
            halves: [_mm256_setzero_si256(); 2],
            shifts: shifts(taps, 7),
        };
        run_blocks::<BLOCK, K>(raw, taps, at, kernel, block);
    }
}

/// # Safety
/// Needs the features it enables.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn run_u16<K: Kernel>(raw: &[u8], taps: &Taps, at: u64, kernel: &mut K) {
    // SAFETY: AVX2 is enabled here.
    unsafe {
        let block = Words {
            quarters: [_mm256_setzero_si256(); 4],
            shifts: shifts(taps, 15),
        };
        run_blocks::<{ BLOCK * 2 }, K>(raw, taps, at, kernel, block);
    }
}

/// This CPU has the features that this module uses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fast(());

impl Fast {
    /// Looks whether it has.
    pub(crate) fn detect() -> Option<Self> {
        is_available().then_some(Self(()))
    }

    /// Levels of all channels in 64 samples of one or two bytes: a word for each, sample 0 in the lowest bit. False, and
    /// nothing is done, for samples of other sizes.
    #[inline(always)]
    pub(crate) fn planes(self, raw: &[u8], unit: usize, planes: &mut [u64; 64]) -> bool {
        if unit == 1
            && let Ok(raw) = raw.try_into()
        {
            // SAFETY: there is a `Fast` only where the CPU has the features.
            unsafe { planes_u8(raw, planes) };
            return true;
        }
        if unit == 2
            && let Ok(raw) = raw.try_into()
        {
            // SAFETY: likewise.
            unsafe { planes_u16(raw, planes) };
            return true;
        }
        false
    }

    /// Does work whose code is compiled with these features.
    pub(crate) fn run<W: Work>(self, work: W) -> W::Out {
        // SAFETY: there is a `Fast` only where the CPU has the features.
        unsafe { run_work(work) }
    }
}

/// # Safety
/// Needs the features it enables.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn run_work<W: Work>(work: W) -> W::Out {
    work.run()
}

/// # Safety
/// Needs the features it enables.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
unsafe fn planes_u8(raw: &[u8; BLOCK], planes: &mut [u64; 64]) {
    // SAFETY: AVX2 is enabled here; see `load` for the offsets.
    unsafe { bits(load(raw, 0), load(raw, 32), &mut planes[..8]) };
}

/// # Safety
/// Needs the features it enables.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
unsafe fn planes_u16(raw: &[u8; BLOCK * 2], planes: &mut [u64; 64]) {
    // SAFETY: AVX2 is enabled here; see `load` for the offsets.
    unsafe {
        let [a, b, c, d] = [load(raw, 0), load(raw, 32), load(raw, 64), load(raw, 96)];
        let (low, high) = planes.split_at_mut(8);
        bits(low_bytes(a, b), low_bytes(c, d), low);
        bits(high_bytes(a, b), high_bytes(c, d), &mut high[..8]);
    }
}

/// The bits of 64 bytes: a word for each of the eight.
///
/// # Safety
/// Needs AVX2.
#[inline(always)]
unsafe fn bits(first: __m256i, second: __m256i, planes: &mut [u64]) {
    let (mut first, mut second) = (first, second);
    for plane in planes.iter_mut().rev() {
        // SAFETY: the caller guarantees AVX2. Adding a byte to itself brings its next bit to the top.
        unsafe {
            *plane = mask(first) | mask(second) << 32;
            first = _mm256_add_epi8(first, first);
            second = _mm256_add_epi8(second, second);
        }
    }
}

/// The low bytes of 32 two-byte samples.
///
/// # Safety
/// Needs AVX2.
#[inline(always)]
unsafe fn low_bytes(low: __m256i, high: __m256i) -> __m256i {
    // SAFETY: the caller guarantees AVX2. The permutation undoes the lane order of the pack.
    unsafe {
        let byte = _mm256_set1_epi16(0xff);
        let packed = _mm256_packus_epi16(_mm256_and_si256(low, byte), _mm256_and_si256(high, byte));
        _mm256_permute4x64_epi64::<0b11_01_10_00>(packed)
    }
}

/// The high bytes of 32 two-byte samples.
///
/// # Safety
/// Needs AVX2.
#[inline(always)]
unsafe fn high_bytes(low: __m256i, high: __m256i) -> __m256i {
    // SAFETY: the caller guarantees AVX2. The permutation undoes the lane order of the pack.
    unsafe {
        let packed = _mm256_packus_epi16(_mm256_srli_epi16::<8>(low), _mm256_srli_epi16::<8>(high));
        _mm256_permute4x64_epi64::<0b11_01_10_00>(packed)
    }
}
