//! What every protocol decoder does with samples, in whatever form they arrive.

use crate::annotation::Annotation;
use crate::planes::{BLOCK, Block, CodePath, Kernel, LANES, Taps};
use crate::segment::{Reader, SegmentError};
use crate::{i2c, spi};

/// A decoder in the middle of a capture. Samples arrive in order and without gaps; annotations come
/// out in the order in which sigrok prints them. It keeps its state between calls, so a capture can
/// be split anywhere.
pub(crate) trait Protocol: Send {
    /// Channel numbers in the order of the lanes; `None` is not connected.
    fn lanes(&self) -> Vec<Option<usize>>;

    /// What ends whatever a lane was in the middle of: this level for so many samples. None where something else does.
    fn idle(&self, _lane: usize) -> Option<(bool, u64)> {
        None
    }

    /// Samples before the first one are not known. `idle_from` says for each lane where its first idle time begins, or the
    /// first sample where there is none to be found. Nothing is said of what began before the decoder can know.
    fn begin_inside(&mut self, idle_from: &[u64]);

    /// Takes raw samples, the first being number `at`.
    fn feed(&mut self, raw: &[u8], taps: &Taps, at: u64, path: CodePath, out: &mut Vec<Annotation>);

    /// Same as `feed`, with the chunks of `chunk` samples spread over rayon's threads. `raw` is
    /// short enough for its events to fit in memory.
    fn feed_chunks(
        &mut self,
        raw: &[u8],
        taps: &Taps,
        at: u64,
        chunk: usize,
        out: &mut Vec<Annotation>,
    );

    /// Takes samples `at..at + count`, given only the blocks that contain an edge; `levels` are
    /// those of the lanes at sample `at`, lane 0 in bit 0.
    fn feed_active(
        &mut self,
        at: u64,
        count: u64,
        levels: u64,
        active: &[ActiveBlock],
        out: &mut Vec<Annotation>,
    );

    /// What decodes parts of stored captures side by side; none if that cannot be done.
    fn splitter(&self) -> Option<Box<dyn Splitter>> {
        None
    }

    /// Takes the next part that the splitter decoded, at least one.
    fn join(&mut self, _part: Part, _out: &mut Vec<Annotation>) {}

    /// The capture ends before sample `end`.
    fn finish(&mut self, end: u64, out: &mut Vec<Annotation>);
}

/// Decodes a part of a stored capture without knowing what came before it.
pub(crate) trait Splitter: Sync {
    /// Decodes the next `blocks` blocks of a reader. None if too much is left to whoever knows what came before.
    fn decode(&self, reader: &mut Reader<'_>, blocks: usize) -> Result<Option<Part>, SegmentError>;
}

/// What a splitter decoded.
pub(crate) struct Part {
    /// The first sample.
    pub(crate) at: u64,
    /// Levels before it, or its own where a capture begins, and those of the last sample; lane 0 in bit 0.
    pub(crate) levels: (u64, u64),
    pub(crate) content: Content,
}

/// What is there.
pub(crate) enum Content {
    I2c(i2c::Part),
    Spi(spi::Stored),
}

/// A block of stored samples in which some lane changes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ActiveBlock {
    /// Number of its first sample.
    pub(crate) at: u64,
    /// Samples in it, at most 64.
    pub(crate) count: u32,
    /// Levels per lane.
    pub(crate) planes: [u64; LANES],
}

impl Block for ActiveBlock {
    #[inline(always)]
    fn plane(&self, lane: usize) -> u64 {
        self.planes[lane]
    }
}

/// Passes the samples `at..at + count` to the kernel.
pub(crate) fn run_active<K: Kernel>(at: u64, count: u64, active: &[ActiveBlock], kernel: &mut K) {
    let end = at + count;
    let mut at = at;
    for block in active {
        if at < block.at {
            kernel.quiet(at, block.at - at);
        }
        kernel.block(block.at, block.count, block);
        at = block.at + u64::from(block.count);
    }
    if at < end {
        kernel.quiet(at, end - at);
    }
}

/// A piece of raw samples that is decoded on its own.
#[derive(Clone, Copy)]
pub(crate) struct Chunk<'a> {
    /// Number of its first sample.
    pub(crate) at: u64,
    /// The sample before it; `None` for the first chunk.
    pub(crate) before: Option<&'a [u8]>,
    pub(crate) raw: &'a [u8],
}

/// Cuts raw samples, the first being number `at`, into chunks of about `samples`.
pub(crate) fn chunks(raw: &[u8], unit: usize, at: u64, samples: usize) -> Vec<Chunk<'_>> {
    let samples = samples.max(1).next_multiple_of(BLOCK);
    let bytes = samples * unit;
    let cut = raw.chunks(bytes).enumerate().map(|(index, chunk)| {
        let start = index * bytes;
        let before = start.checked_sub(unit).map(|from| &raw[from..start]);
        Chunk {
            at: at + (index * samples) as u64,
            before,
            raw: chunk,
        }
    });
    cut.collect()
}
