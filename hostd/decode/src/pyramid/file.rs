//! The file of a pyramid: written piece by piece, read chunk by chunk.

use super::{CHUNK_CELLS, FINEST_LEVEL, LEVEL_MAX, LEVEL_STEP, chunks};
use crate::container::{Content, u32_at, u64_at};
use crate::segment::{CHANNELS_MAX, SegmentError};
use libdeflater::crc32;
use std::ops::Range;

const VERSION: u32 = 1;
const HEADER_SIZE: usize = 20;
/// Samples and number of levels.
const INDEX_HEAD_SIZE: usize = 12;
const ENTRY_SIZE: usize = 16;
const TRAILER_SIZE: usize = 20;
const TRAILER_MAGIC: [u8; 8] = *b"hostdEND";

fn magic(content: Content) -> [u8; 8] {
    match content {
        Content::Logic => *b"hostdLOV",
        Content::Analog => *b"hostdANV",
    }
}

/// Where a chunk is.
#[derive(Clone, Copy, Debug)]
struct Chunk {
    offset: u64,
    length: u32,
    crc: u32,
}

/// Writes a file.
pub(super) struct PyramidWriter {
    out: Vec<u8>,
    taken: u64,
    levels: Vec<Vec<Chunk>>,
}

impl PyramidWriter {
    pub(super) fn new(content: Content, channels: u32) -> Self {
        let mut out = Vec::new();
        out.extend(magic(content));
        out.extend(VERSION.to_le_bytes());
        out.extend(channels.to_le_bytes());
        out.extend(crc32(&out).to_le_bytes());
        Self {
            out,
            taken: 0,
            levels: Vec::new(),
        }
    }

    /// Adds the next chunk of a level; returns how many the level has.
    pub(super) fn push(&mut self, level: usize, bytes: &[u8]) -> usize {
        if self.levels.len() <= level {
            self.levels.resize_with(level + 1, Vec::new);
        }
        self.levels[level].push(Chunk {
            offset: self.taken + self.out.len() as u64,
            length: u32::try_from(bytes.len()).expect("a chunk is small"),
            crc: crc32(bytes),
        });
        self.out.extend_from_slice(bytes);
        self.levels[level].len()
    }

    /// Chunks that a level has.
    pub(super) fn chunks(&self, level: usize) -> usize {
        self.levels.get(level).map_or(0, Vec::len)
    }

    /// The bytes written since the last call.
    pub(super) fn take(&mut self) -> Vec<u8> {
        self.taken += self.out.len() as u64;
        std::mem::take(&mut self.out)
    }

    /// The rest of the file.
    pub(super) fn finish(mut self, samples: u64) -> Vec<u8> {
        let mut index = Vec::new();
        let count = |n: usize| u32::try_from(n).expect("there are few").to_le_bytes();
        index.extend(samples.to_le_bytes());
        index.extend(count(self.levels.len()));
        for chunks in &self.levels {
            index.extend(count(chunks.len()));
        }
        for chunk in self.levels.iter().flatten() {
            index.extend(chunk.offset.to_le_bytes());
            index.extend(chunk.length.to_le_bytes());
            index.extend(chunk.crc.to_le_bytes());
        }
        let offset = self.taken + self.out.len() as u64;
        let crc = crc32(&index);
        self.out.append(&mut index);
        self.out.extend(offset.to_le_bytes());
        self.out.extend(crc.to_le_bytes());
        self.out.extend(TRAILER_MAGIC);
        self.out
    }
}

/// A pyramid being read. Header and index have been checked; chunks are checked when they are read.
#[derive(Clone, Debug)]
pub struct Pyramid<'a> {
    bytes: &'a [u8],
    channels: usize,
    samples: u64,
    levels: Vec<Vec<Chunk>>,
}

impl<'a> Pyramid<'a> {
    /// Opens the pyramid of a logic capture.
    ///
    /// # Errors
    /// The bytes are no such pyramid, or it is damaged.
    pub fn open_logic(bytes: &'a [u8]) -> Result<Self, SegmentError> {
        Self::open(bytes, Content::Logic).ok_or(SegmentError::Pyramid)
    }

    /// Opens the pyramid of an analog capture.
    ///
    /// # Errors
    /// The bytes are no such pyramid, or it is damaged.
    pub fn open_analog(bytes: &'a [u8]) -> Result<Self, SegmentError> {
        Self::open(bytes, Content::Analog).ok_or(SegmentError::Pyramid)
    }

    fn open(bytes: &'a [u8], content: Content) -> Option<Self> {
        let header = bytes.get(..HEADER_SIZE)?;
        let is_ours = header[..8] == magic(content)
            && u32_at(header, 8)? == VERSION
            && u32_at(header, HEADER_SIZE - 4)? == crc32(&header[..HEADER_SIZE - 4]);
        let channels = usize::try_from(u32_at(header, 12)?).ok()?;
        if !is_ours || !(1..=CHANNELS_MAX).contains(&channels) {
            return None;
        }
        let trailer_at = bytes.len().checked_sub(TRAILER_SIZE)?;
        let trailer = &bytes[trailer_at..];
        let index = bytes.get(usize::try_from(u64_at(trailer, 0)?).ok()?..trailer_at)?;
        if trailer[12..] != TRAILER_MAGIC || u32_at(trailer, 8)? != crc32(index) {
            return None;
        }
        let samples = u64_at(index, 0)?;
        let count = usize::try_from(u32_at(index, 8)?).ok()?;
        let (counts, mut entries) =
            index[INDEX_HEAD_SIZE..].split_at_checked(count.checked_mul(4)?)?;
        let mut levels = Vec::new();
        for level in 0..count {
            let chunks = usize::try_from(u32_at(counts, level * 4)?).ok()?;
            let (own, rest) = entries.split_at_checked(chunks.checked_mul(ENTRY_SIZE)?)?;
            entries = rest;
            levels.push(
                own.chunks_exact(ENTRY_SIZE)
                    .map(entry)
                    .collect::<Option<Vec<_>>>()?,
            );
        }
        let found = Self {
            bytes,
            channels,
            samples,
            levels,
        };
        (entries.is_empty() && found.is_whole()).then_some(found)
    }

    /// Whether there are as many levels and chunks as the samples need.
    fn is_whole(&self) -> bool {
        if self.levels.len() > level_count(LEVEL_MAX) {
            return false;
        }
        let chunks = |index| self.cells(level_of(index)).div_ceil(CHUNK_CELLS as u64);
        let is_right = |(index, found): (usize, &Vec<Chunk>)| found.len() as u64 == chunks(index);
        let is_top = match self.levels.len() {
            0 => self.samples == 0,
            count => chunks(count - 1) == 1,
        };
        is_top && self.levels.iter().enumerate().all(is_right)
    }

    /// Channels.
    #[must_use]
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// Samples of the capture.
    #[must_use]
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// The coarsest stored level that is no coarser than `level`.
    #[must_use]
    pub fn level_for(&self, level: u32) -> Option<u32> {
        let wanted = level.checked_sub(FINEST_LEVEL)? / LEVEL_STEP;
        let last = u32::try_from(self.levels.len()).ok()?.checked_sub(1)?;
        Some(FINEST_LEVEL + wanted.min(last) * LEVEL_STEP)
    }

    /// Cells of a level.
    pub(super) fn cells(&self, level: u32) -> u64 {
        self.samples.div_ceil(1 << level)
    }

    /// A chunk whose checksum has been verified, and how many cells it has.
    fn chunk(&self, level: u32, number: usize) -> Option<(&'a [u8], usize)> {
        let chunk = self.levels.get(index_of(level)?)?.get(number)?;
        let from = usize::try_from(chunk.offset).ok()?;
        let bytes = self
            .bytes
            .get(from..from.checked_add(chunk.length as usize)?)?;
        let first = number as u64 * CHUNK_CELLS as u64;
        let cells = self.cells(level).checked_sub(first)?;
        let cells = usize::try_from(cells.min(CHUNK_CELLS as u64)).ok()?;
        (crc32(bytes) == chunk.crc).then_some((bytes, cells))
    }

    /// States of all channels in the cells of a chunk.
    pub(super) fn logic_chunk(
        &self,
        level: u32,
        number: usize,
    ) -> Result<Vec<Vec<u8>>, SegmentError> {
        let chunk = self.chunk(level, number);
        let read = chunk.and_then(|(bytes, cells)| chunks::logic(bytes, self.channels, cells));
        read.ok_or(SegmentError::Pyramid)
    }

    /// Lowest and highest counts in the cells of a chunk.
    pub(super) fn analog_chunk(
        &self,
        level: u32,
        number: usize,
    ) -> Result<(Vec<u16>, Vec<u16>), SegmentError> {
        let chunk = self.chunk(level, number);
        let read = chunk.and_then(|(bytes, cells)| chunks::analog(bytes, cells));
        read.ok_or(SegmentError::Pyramid)
    }

    /// States of some channels in some cells of a stored level, a byte each.
    ///
    /// # Errors
    /// A chunk is damaged, or there are no such cells.
    pub(super) fn logic_cells(
        &self,
        channels: &[usize],
        level: u32,
        cells: &Range<u64>,
    ) -> Result<Vec<Vec<u8>>, SegmentError> {
        let mut out = vec![Vec::new(); channels.len()];
        for (number, part) in parts(cells) {
            let chunk = self.logic_chunk(level, number)?;
            for (out, &channel) in out.iter_mut().zip(channels) {
                let own = chunk.get(channel).and_then(|own| own.get(part.clone()));
                out.extend_from_slice(own.ok_or(SegmentError::Pyramid)?);
            }
        }
        Ok(out)
    }

    /// Lowest and highest counts in some cells of a stored level.
    ///
    /// # Errors
    /// A chunk is damaged, or there are no such cells.
    pub(super) fn analog_cells(
        &self,
        level: u32,
        cells: &Range<u64>,
    ) -> Result<(Vec<u16>, Vec<u16>), SegmentError> {
        let (mut min, mut max) = (Vec::new(), Vec::new());
        for (number, part) in parts(cells) {
            let (low, high) = self.analog_chunk(level, number)?;
            let (low, high) = (low.get(part.clone()), high.get(part));
            min.extend_from_slice(low.ok_or(SegmentError::Pyramid)?);
            max.extend_from_slice(high.ok_or(SegmentError::Pyramid)?);
        }
        Ok((min, max))
    }
}

/// The chunks in which cells are, and which of theirs they are.
fn parts(cells: &Range<u64>) -> impl Iterator<Item = (usize, Range<usize>)> {
    let size = CHUNK_CELLS as u64;
    let cells = cells.clone();
    let numbers = match cells.is_empty() {
        true => 0..0,
        false => cells.start / size..cells.end.div_ceil(size),
    };
    numbers.filter_map(move |number| {
        let inside = |cell: u64| {
            usize::try_from(cell.clamp(number * size, (number + 1) * size) - number * size)
        };
        let part = inside(cells.start).ok()?..inside(cells.end).ok()?;
        Some((usize::try_from(number).ok()?, part))
    })
}

fn entry(bytes: &[u8]) -> Option<Chunk> {
    Some(Chunk {
        offset: u64_at(bytes, 0)?,
        length: u32_at(bytes, 8)?,
        crc: u32_at(bytes, 12)?,
    })
}

/// The level of the `index`-th stored one.
pub(super) fn level_of(index: usize) -> u32 {
    FINEST_LEVEL + u32::try_from(index).map_or(LEVEL_MAX, |index| index.saturating_mul(LEVEL_STEP))
}

fn index_of(level: u32) -> Option<usize> {
    let above = level.checked_sub(FINEST_LEVEL)?;
    (above % LEVEL_STEP == 0).then_some((above / LEVEL_STEP) as usize)
}

/// Stored levels that are no coarser than `level`.
fn level_count(level: u32) -> usize {
    (level.saturating_sub(FINEST_LEVEL) / LEVEL_STEP) as usize + 1
}
