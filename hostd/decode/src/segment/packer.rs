//! Makes packs, block by block.

use super::frame::Framer;
use super::pack::{PARTS_LOG2_MAX, PARTS_OF_DISTANCES, PARTS_OF_LEVELS, RESTS, SHARED};
use super::{BLOCK_SAMPLES, PACK_BLOCKS_MAX, distances};
use crate::container::ContainerWriter;
use crate::planes::{Fast, work};
use crate::varint;

/// A channel with more than one toggle per this many samples is stored as a plane: unpacking its distances would take longer
/// than scanning its samples.
const DENSE: u32 = 10;

/// Most toggles of a part that is stored as distances: each takes little more than a byte.
const PART_TOGGLES: u32 = 24 << 10;

/// Parts of a block that is stored as a plane, as a power of two: as many bytes.
const PLANE_PARTS_LOG2: u32 = 2;

/// A shared frame ends with the block in which its pieces come to so many bytes.
const SHARED_BYTES: usize = 32 << 10;

/// A pack ends with the block in which all channels come to so many bytes.
const PACK_BYTES: usize = 512 << 10;

/// What a channel has in the pack.
#[derive(Default)]
struct Row {
    moves: bool,
    pieces: Vec<u8>,
    /// Distances that are in no frame yet, and the samples that they stand for.
    open: Vec<u8>,
    samples: u64,
    /// Shared frames: how many, their descriptions, the frames.
    count: u64,
    table: Vec<u8>,
    shared: Vec<u8>,
    /// Frames of parts.
    parts: Vec<u8>,
}

impl Row {
    fn clear(&mut self) {
        self.moves = false;
        self.count = 0;
        for bytes in [
            &mut self.pieces,
            &mut self.table,
            &mut self.shared,
            &mut self.parts,
        ] {
            bytes.clear();
        }
    }

    fn bytes(&self) -> usize {
        self.pieces.len() + self.open.len() + self.shared.len() + self.parts.len()
    }

    /// Makes a shared frame of what is in none.
    fn close(&mut self, framer: &mut Framer) {
        if self.open.is_empty() {
            return;
        }
        varint::push(&mut self.table, self.open.len() as u64);
        framer.push(&self.open, self.samples, &mut self.table, &mut self.shared);
        self.count += 1;
        self.open.clear();
        self.samples = 0;
    }
}

/// The pack being filled.
pub(super) struct Packer {
    /// First sample, and levels before it.
    start: u64,
    levels: u64,
    samples: u32,
    rows: Vec<Row>,
    framer: Framer,
    fast: Option<Fast>,
    /// Where the channel at hand toggles, and where others did.
    found: Vec<u32>,
    plain: Vec<u8>,
}

impl Packer {
    pub(super) fn new(channels: usize) -> Self {
        let mut rows = Vec::new();
        rows.resize_with(channels, Row::default);
        Self {
            start: 0,
            levels: 0,
            samples: 0,
            rows,
            framer: Framer::new(),
            fast: Fast::detect(),
            found: Vec::new(),
            plain: Vec::new(),
        }
    }

    /// Takes the next block: levels before it, and a bitmap of toggles for each channel, sample 0 in the lowest bit. Returns
    /// how many each channel has.
    pub(super) fn push(&mut self, levels: u64, samples: u32, toggles: &[Vec<u64>]) -> Vec<u32> {
        if self.samples == 0 {
            self.levels = levels;
        }
        self.framer.earn(samples);
        let words = samples.div_ceil(u64::BITS) as usize;
        let mut counts = Vec::with_capacity(toggles.len());
        for (channel, toggles) in toggles.iter().enumerate() {
            let level = levels >> channel & 1 != 0;
            counts.push(self.push_channel(channel, level, samples, &toggles[..words]));
        }
        self.samples += samples;
        counts
    }

    /// Adds what a channel has in a block; returns how many toggles that is.
    fn push_channel(&mut self, channel: usize, level: bool, samples: u32, toggles: &[u64]) -> u32 {
        let most = samples / DENSE;
        let find = distances::Find {
            toggles,
            found: &mut self.found,
            most: most as usize,
        };
        let count = work(self.fast, find);
        let row = &mut self.rows[channel];
        row.samples += u64::from(samples);
        let mut piece = |form: u64, value: u64| {
            let piece = value << 3 | form << 1 | u64::from(level);
            varint::push(&mut row.pieces, piece);
        };
        let found = u32::try_from(count).unwrap_or(u32::MAX);
        if found == 0 {
            piece(RESTS, 0);
            return 0;
        }
        row.moves = true;
        if found > most {
            piece(PARTS_OF_LEVELS, PLANE_PARTS_LOG2.into());
            return self.push_levels(channel, level, toggles);
        }
        if found > PART_TOGGLES {
            let log2 = parts_log2(found);
            piece(PARTS_OF_DISTANCES, log2.into());
            self.push_distances(channel, (level, count), (BLOCK_SAMPLES >> log2, samples));
            return found;
        }
        let before = row.open.len();
        distances::push(&self.found[..count], 0, &mut row.open);
        piece(SHARED, (row.open.len() - before) as u64);
        if row.open.len() >= SHARED_BYTES {
            row.close(&mut self.framer);
        }
        found
    }

    /// Adds parts with a bit for each sample; returns how many toggles there are.
    fn push_levels(&mut self, channel: usize, level: bool, toggles: &[u64]) -> u32 {
        let row = &mut self.rows[channel];
        let wide = BLOCK_SAMPLES >> PLANE_PARTS_LOG2;
        let (mut level, mut all) = (level, 0);
        for part in toggles.chunks((wide / u64::BITS) as usize) {
            let count: u32 = part.iter().map(|word| word.count_ones()).sum();
            varint::push(&mut row.pieces, u64::from(count) << 1 | u64::from(level));
            all += count;
            if count == 0 {
                continue;
            }
            self.plain.clear();
            level = distances::push_plane(level, part, &mut self.plain);
            let samples = part.len() as u64 * u64::from(u64::BITS);
            self.framer
                .push(&self.plain, samples, &mut row.pieces, &mut row.parts);
        }
        all
    }

    /// Adds parts with the distances of the toggles that were found.
    fn push_distances(
        &mut self,
        channel: usize,
        (level, found): (bool, usize),
        (wide, samples): (u32, u32),
    ) {
        let row = &mut self.rows[channel];
        let mut level = level;
        let mut rest = &self.found[..found];
        for from in (0..samples).step_by(wide as usize) {
            let (part, behind) = rest.split_at(rest.partition_point(|&at| at < from + wide));
            rest = behind;
            let count = part.len() as u64;
            varint::push(&mut row.pieces, count << 1 | u64::from(level));
            if count == 0 {
                continue;
            }
            level ^= count % 2 == 1;
            self.plain.clear();
            distances::push(part, from, &mut self.plain);
            varint::push(&mut row.pieces, self.plain.len() as u64);
            self.framer
                .push(&self.plain, wide.into(), &mut row.pieces, &mut row.parts);
        }
    }

    /// Whether it is to be closed.
    pub(super) fn is_full(&self) -> bool {
        let all: usize = self.rows.iter().map(Row::bytes).sum();
        self.samples >= BLOCK_SAMPLES * PACK_BLOCKS_MAX || all >= PACK_BYTES
    }

    /// Appends it to a file, if there is anything in it, and begins the next one.
    pub(super) fn close(&mut self, container: &mut ContainerWriter) {
        if self.samples == 0 {
            return;
        }
        let mut head = self.levels.to_le_bytes().to_vec();
        let mut rows = Vec::new();
        for row in &mut self.rows {
            row.close(&mut self.framer);
            row.samples = 0;
            let before = rows.len();
            if row.moves {
                varint::push(&mut rows, row.count);
                rows.extend_from_slice(&row.table);
                rows.extend_from_slice(&row.pieces);
            }
            varint::push(&mut head, (rows.len() - before) as u64);
            if row.moves {
                let frames = row.shared.len() + row.parts.len();
                varint::push(&mut head, frames as u64);
            }
        }
        head.append(&mut rows);
        let frames = self.rows.iter();
        let frames = frames.flat_map(|row| [row.shared.as_slice(), row.parts.as_slice()]);
        let frames: Vec<&[u8]> = frames.collect();
        container.push_pack((self.start, self.samples), &head, &frames);
        self.start += u64::from(self.samples);
        self.samples = 0;
        self.rows.iter_mut().for_each(Row::clear);
    }
}

/// How often a block is halved so that its parts have few toggles, where they are spread evenly.
fn parts_log2(count: u32) -> u32 {
    let halved = (1..PARTS_LOG2_MAX).find(|log2| count >> log2 <= PART_TOGGLES);
    halved.unwrap_or(PARTS_LOG2_MAX)
}
