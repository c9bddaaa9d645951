//! Raw samples as bit planes: 64 samples of one channel in one machine word.
//!
//! A logic sample is a little-endian word of 1..=8 bytes with one bit per channel. Decoders do not
//! walk through samples; they walk through blocks of 64 and ask for the *plane* of a channel, a
//! `u64` whose bit `i` is the channel's level at sample `i` of the block. Edges are then
//! `x ^ (x << 1 | last)`, and everything between two edges costs nothing. The planes exist only in
//! registers; nothing is transposed in memory, which is why this is faster than extracting edges
//! first.
//!
//! Two implementations give the same words: [`avx2`] for x86-64 CPUs that have it, chosen at run
//! time, and [`portable`] for all others and for other sample sizes.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(not(target_arch = "x86_64"))]
mod avx2 {
    //! No CPU here has it.

    use super::Work;

    /// There is none.
    #[derive(Clone, Copy, Debug)]
    pub(crate) enum Fast {}

    impl Fast {
        pub(crate) fn detect() -> Option<Self> {
            None
        }

        pub(crate) fn planes(self, _: &[u8], _: usize, _: &mut [u64; 64]) -> bool {
            match self {}
        }

        pub(crate) fn run<W: Work>(self, _: W) -> W::Out {
            match self {}
        }
    }
}
mod portable;

pub(crate) use avx2::Fast;

/// Work that is quicker with the instructions of a newer CPU. Implementations mark the method `#[inline(always)]`, and all that
/// it calls, so that they are compiled with the instruction set of the caller.
pub(crate) trait Work {
    type Out;

    fn run(self) -> Self::Out;
}

/// Does work in the quickest way that there is.
pub(crate) fn work<W: Work>(fast: Option<Fast>, work: W) -> W::Out {
    match fast {
        Some(fast) => fast.run(work),
        None => work.run(),
    }
}

/// Samples in a full block.
pub(crate) const BLOCK: usize = 64;

/// Maximum number of channels that a decoder looks at.
pub(crate) const LANES: usize = 4;

/// Up to 64 consecutive samples.
pub(crate) trait Block {
    /// Levels of the lane, sample 0 in bit 0. A lane that is not connected is low.
    fn plane(&self, lane: usize) -> u64;
}

/// A decoder's inner loop. Implementations mark both methods `#[inline(always)]`, so that they are
/// compiled with the instruction set of the caller.
pub(crate) trait Kernel {
    /// Takes the samples `at..at + count`, `count <= 64`. After `count`, the planes repeat the last
    /// sample. Returns whether there was an edge: after blocks without one, it may pay to try
    /// skipping.
    fn block<B: Block>(&mut self, at: u64, count: u32, block: &B) -> bool;

    /// Takes `count` samples in which no lane changes, nor differs from the sample before them.
    fn quiet(&mut self, at: u64, count: u64);
}

/// The positions of the lanes in a sample.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taps {
    unit: usize,
    /// Bit number in the sample; `None` reads low.
    bits: [Option<u32>; LANES],
}

/// Which implementation extracts the planes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodePath {
    /// 256-bit registers. Falls back to `Portable` on a CPU without AVX2 and for sample sizes
    /// other than 1 and 2 bytes.
    Avx2,
    /// Plain 64-bit arithmetic.
    Portable,
}

impl CodePath {
    /// The fastest one on this CPU.
    pub fn best() -> Self {
        #[cfg(target_arch = "x86_64")]
        if avx2::is_available() {
            return Self::Avx2;
        }
        Self::Portable
    }
}

impl Taps {
    /// `lanes` are channel numbers. A channel past the sample's last bit reads low: old files name
    /// more channels than their samples hold.
    pub(crate) fn new(unit: usize, lanes: &[Option<usize>]) -> Self {
        debug_assert!((1..=8).contains(&unit) && lanes.len() <= LANES);
        let mut bits = [None; LANES];
        for (bit, lane) in bits.iter_mut().zip(lanes) {
            *bit = lane
                .filter(|&channel| channel < unit * 8)
                .and_then(|c| u32::try_from(c).ok());
        }
        Self { unit, bits }
    }

    /// Bytes of one sample.
    pub(crate) fn unit(&self) -> usize {
        self.unit
    }

    /// Levels of the lanes in one sample, lane 0 in bit 0.
    pub(crate) fn levels(&self, sample: &[u8]) -> u64 {
        let word = portable::sample_word(&sample[..self.unit]);
        let lanes = self.bits.iter().enumerate();
        lanes.fold(0, |levels, (lane, bit)| {
            levels | bit.map_or(0, |bit| word >> bit & 1) << lane
        })
    }

    /// The bits of a sample that belong to any lane.
    fn mask(&self) -> u64 {
        self.bits
            .iter()
            .flatten()
            .fold(0, |mask, bit| mask | 1 << bit)
    }
}

/// Passes the samples in `raw` (whole samples, the first being number `at`) to the kernel.
pub(crate) fn run<K: Kernel>(raw: &[u8], taps: &Taps, at: u64, kernel: &mut K, path: CodePath) {
    debug_assert!(raw.len().is_multiple_of(taps.unit));
    #[cfg(target_arch = "x86_64")]
    if path == CodePath::Avx2 && avx2::run(raw, taps, at, kernel) {
        return;
    }
    let _ = path;
    portable::run(raw, taps, at, kernel);
}
