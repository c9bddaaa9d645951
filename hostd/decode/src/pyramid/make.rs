//! Makes pyramids, block by block.

use super::cells::{append, folded, folded_counts, of_level};
use super::file::PyramidWriter;
use super::{CHUNK_CELLS, FINEST_LEVEL, LEVEL_STEP, chunks};
use crate::analog::{ANALOG_BLOCK_SAMPLES, AnalogSegment};
use crate::container::Content;
use crate::segment::{BLOCK_SAMPLES, Lane, Segment, SegmentError, Shared};

/// Cells that become one of the next level.
const FOLD: usize = 1 << LEVEL_STEP;

/// Samples of the finest cells.
const FINEST_SAMPLES: u32 = 1 << FINEST_LEVEL;

// Chunks end where cells of the next level and blocks do.
const _: () = {
    assert!(CHUNK_CELLS.is_multiple_of(FOLD));
    assert!((CHUNK_CELLS << FINEST_LEVEL).is_multiple_of(BLOCK_SAMPLES as usize));
    assert!((CHUNK_CELLS << FINEST_LEVEL).is_multiple_of(ANALOG_BLOCK_SAMPLES as usize));
};

/// Of a logic capture.
pub(crate) struct LogicPyramid {
    writer: PyramidWriter,
    channels: usize,
    /// Cells of each level that are in no chunk yet, by channel.
    levels: Vec<Vec<Vec<u8>>>,
    samples: u64,
}

impl LogicPyramid {
    pub(crate) fn new(channels: usize) -> Self {
        let count = u32::try_from(channels).expect("a segment has few channels");
        Self {
            writer: PyramidWriter::new(Content::Logic, count),
            channels,
            levels: Vec::new(),
            samples: 0,
        }
    }

    /// Takes the next block: levels before it, and a bitmap of toggles for each channel. Channels with a count of 0 rest.
    pub(crate) fn push(&mut self, levels: u64, samples: u32, toggles: &[Vec<u64>], counts: &[u32]) {
        for (channel, (words, count)) in toggles.iter().zip(counts).enumerate() {
            let words = (*count > 0).then_some(words.as_slice());
            self.push_channel(channel, levels >> channel & 1 != 0, samples, words);
        }
        self.end_block(samples);
    }

    fn push_channel(&mut self, channel: usize, level: bool, samples: u32, words: Option<&[u64]>) {
        let cells = &mut self.level(0)[channel];
        if let Some(words) = words {
            append(words, samples, FINEST_LEVEL, level, cells);
        } else {
            let count = samples.div_ceil(FINEST_SAMPLES) as usize;
            cells.resize(cells.len() + count, of_level(level));
        }
    }

    fn end_block(&mut self, samples: u32) {
        self.samples += u64::from(samples);
        let mut level = 0;
        while self.level(level)[0].len() >= CHUNK_CELLS {
            self.seal(level);
            level += 1;
        }
    }

    /// Cells of a level that are in no chunk yet.
    fn level(&mut self, level: usize) -> &mut Vec<Vec<u8>> {
        if self.levels.len() <= level {
            let channels = self.channels;
            self.levels
                .resize_with(level + 1, || vec![Vec::new(); channels]);
        }
        &mut self.levels[level]
    }

    /// Makes a chunk of what a level has; returns how many chunks it has.
    fn seal(&mut self, level: usize) -> usize {
        let mut cells = std::mem::take(self.level(level));
        let count = self.writer.push(level, &chunks::of_logic(&cells));
        let above = self.level(level + 1);
        for (above, cells) in above.iter_mut().zip(&mut cells) {
            above.extend(folded(cells, FOLD));
            cells.clear();
        }
        *self.level(level) = cells;
        count
    }

    /// The bytes that became final since the last call.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        self.writer.take()
    }

    /// The rest of the file.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        for level in 0.. {
            let is_top = match self.level(level)[0].is_empty() {
                true => self.writer.chunks(level) <= 1,
                false => self.seal(level) <= 1,
            };
            if is_top {
                break;
            }
        }
        self.writer.finish(self.samples)
    }
}

/// Of an analog capture.
pub(crate) struct AnalogPyramid {
    writer: PyramidWriter,
    /// Lowest and highest counts of the cells of each level that are in no chunk yet.
    levels: Vec<(Vec<u16>, Vec<u16>)>,
    samples: u64,
}

impl AnalogPyramid {
    pub(crate) fn new() -> Self {
        Self {
            writer: PyramidWriter::new(Content::Analog, 1),
            levels: Vec::new(),
            samples: 0,
        }
    }

    /// Takes the next block: all but the last are whole cells.
    pub(crate) fn push(&mut self, samples: &[u16]) {
        let wide = FINEST_SAMPLES as usize;
        let (min, max) = self.level(0);
        min.extend(folded_counts(samples, wide, u16::min));
        max.extend(folded_counts(samples, wide, u16::max));
        self.samples += samples.len() as u64;
        let mut level = 0;
        while self.level(level).0.len() >= CHUNK_CELLS {
            self.seal(level);
            level += 1;
        }
    }

    fn level(&mut self, level: usize) -> &mut (Vec<u16>, Vec<u16>) {
        if self.levels.len() <= level {
            self.levels.resize_with(level + 1, Default::default);
        }
        &mut self.levels[level]
    }

    /// Makes a chunk of what a level has; returns how many chunks it has.
    fn seal(&mut self, level: usize) -> usize {
        let (min, max) = std::mem::take(self.level(level));
        let count = self.writer.push(level, &chunks::of_analog(&min, &max));
        let above = self.level(level + 1);
        above.0.extend(folded_counts(&min, FOLD, u16::min));
        above.1.extend(folded_counts(&max, FOLD, u16::max));
        count
    }

    /// The bytes that became final since the last call.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        self.writer.take()
    }

    /// The rest of the file.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        for level in 0.. {
            let is_top = match self.level(level).0.is_empty() {
                true => self.writer.chunks(level) <= 1,
                false => self.seal(level) <= 1,
            };
            if is_top {
                break;
            }
        }
        self.writer.finish(self.samples)
    }
}

/// Makes the pyramid of a stored logic capture again. `out` is given its bytes piece by piece, and may end it.
///
/// # Errors
/// A block is damaged, or what `out` returns.
pub fn of_logic<E: From<SegmentError>>(
    segment: &Segment<'_>,
    mut out: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let mut pyramid = LogicPyramid::new(segment.channels());
    let mut lane = Lane::default();
    let mut shared = Vec::new();
    shared.resize_with(segment.channels(), Shared::default);
    let mut words = Vec::new();
    for index in 0..segment.block_count() {
        let samples = segment.block_samples(index);
        for (channel, shared) in shared.iter_mut().enumerate() {
            lane.exchange(shared);
            let unpacked = segment.unpack(index, channel, &mut lane);
            lane.exchange(shared);
            unpacked?;
            let moves = (!lane.rests()).then(|| {
                words.clear();
                words.resize(samples.div_ceil(64) as usize, 0);
                lane.mark(&mut words);
                words.as_slice()
            });
            pyramid.push_channel(channel, lane.level_before(0), samples, moves);
        }
        pyramid.end_block(samples);
        out(&pyramid.take())?;
    }
    out(&pyramid.finish())
}

/// The same of a stored analog capture.
///
/// # Errors
/// A block is damaged, or what `out` returns.
pub fn of_analog<E: From<SegmentError>>(
    segment: &AnalogSegment<'_>,
    mut out: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let mut pyramid = AnalogPyramid::new();
    let mut samples = Vec::new();
    for index in 0..segment.block_count() {
        samples.clear();
        segment.read_block(index, &mut samples)?;
        pyramid.push(&samples);
        out(&pyramid.take())?;
    }
    out(&pyramid.finish())
}
