//! The file format of stored captures: checksummed blocks in order, followed by an index.
//!
//! ```text
//! header   magic[8]  version u32  channels u32  sample rate f64  reserved u32  crc32 u32
//! block    length u32  crc32 u32  body[length]            body: start u64  samples u32  payload
//! …
//! index    count × { offset u64  start u64  samples u32 }  notes
//! trailer  index offset u64  count u32  crc32 of the index u32  magic[8]
//! ```
//!
//! Notes are what logic captures keep of each block from version 2 on ([`crate::segment`]'s facts); other files have none.
//! From version 3 on, a block of theirs is a pack of several: its payload is the length of a head u32, the head, and frames
//! that have checksums of their own there, so that the checksum of the block covers what is before them.
//! All numbers are little-endian. Blocks are written while a capture arrives. A file whose writer
//! died has no index, but its complete blocks can be found without one.

use crate::analog::ANALOG_BLOCK_SAMPLES;
use crate::segment::{BLOCK_SAMPLES, PACK_BLOCKS_MAX, SegmentError};
use libdeflater::crc32;

/// The first version of logic captures whose index ends with notes.
const VERSION_WITH_NOTES: u32 = 2;

/// The first version of logic captures that consist of packs.
pub(crate) const VERSION_WITH_PACKS: u32 = 3;

const HEADER_SIZE: usize = 32;
const BLOCK_HEADER_SIZE: usize = 8;
/// Size of the start and the sample count.
const BODY_HEADER_SIZE: usize = 12;
/// The same with the length of a pack's head.
const PACK_HEADER_SIZE: usize = BODY_HEADER_SIZE + 4;
const INDEX_ENTRY_SIZE: usize = 20;
const TRAILER_SIZE: usize = 24;
const TRAILER_MAGIC: [u8; 8] = *b"hostdEND";

/// Largest block body that is accepted, in bytes.
const BODY_MAX: usize = 64 << 20;

/// The kind of samples in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    Logic,
    Analog,
}

impl Content {
    fn magic(self) -> [u8; 8] {
        match self {
            Self::Logic => *b"hostdLOG",
            Self::Analog => *b"hostdANA",
        }
    }

    /// The version that is written; older ones are read.
    fn version(self) -> u32 {
        match self {
            Self::Logic => VERSION_WITH_PACKS,
            Self::Analog => 1,
        }
    }

    /// Most samples of a block.
    fn samples_max(self, version: u32) -> u32 {
        match self {
            Self::Logic if version >= VERSION_WITH_PACKS => BLOCK_SAMPLES * PACK_BLOCKS_MAX,
            Self::Logic => BLOCK_SAMPLES,
            Self::Analog => ANALOG_BLOCK_SAMPLES,
        }
    }
}

/// Writes a file piece by piece.
pub(crate) struct ContainerWriter {
    out: Vec<u8>,
    /// Number of bytes already taken by the caller.
    taken: u64,
    index: Vec<u8>,
    blocks: u32,
}

impl ContainerWriter {
    pub(crate) fn new(content: Content, channels: u32, sample_rate_hz: f64) -> Self {
        let mut out = Vec::new();
        out.extend(content.magic());
        out.extend(content.version().to_le_bytes());
        out.extend(channels.to_le_bytes());
        out.extend(sample_rate_hz.to_le_bytes());
        out.extend([0; 4]);
        out.extend(crc32(&out).to_le_bytes());
        Self {
            out,
            taken: 0,
            index: Vec::new(),
            blocks: 0,
        }
    }

    /// Adds a block.
    pub(crate) fn push(&mut self, start: u64, samples: u32, payload: &[u8]) {
        self.begin(start, samples, &[payload]);
    }

    /// Adds a pack: a head, and frames that have checksums of their own in it.
    pub(crate) fn push_pack(
        &mut self,
        (start, samples): (u64, u32),
        head: &[u8],
        frames: &[&[u8]],
    ) {
        let size = u32::try_from(head.len()).expect("a head is far below 4 GiB");
        let at = self.begin(start, samples, &[&size.to_le_bytes(), head]);
        for frame in frames {
            self.out.extend_from_slice(frame);
        }
        self.put_length(at);
    }

    /// Adds a block whose checksum covers all of these pieces; returns where it begins.
    fn begin(&mut self, start: u64, samples: u32, pieces: &[&[u8]]) -> usize {
        let at = self.out.len();
        let offset = self.taken + at as u64;
        self.index.extend(offset.to_le_bytes());
        self.index.extend(start.to_le_bytes());
        self.index.extend(samples.to_le_bytes());
        self.blocks += 1;
        self.out.extend([0; BLOCK_HEADER_SIZE]);
        self.out.extend(start.to_le_bytes());
        self.out.extend(samples.to_le_bytes());
        for piece in pieces {
            self.out.extend_from_slice(piece);
        }
        let crc = crc32(&self.out[at + BLOCK_HEADER_SIZE..]);
        self.out[at + 4..at + BLOCK_HEADER_SIZE].copy_from_slice(&crc.to_le_bytes());
        self.put_length(at);
        at
    }

    fn put_length(&mut self, at: usize) {
        let length = self.out.len() - at - BLOCK_HEADER_SIZE;
        let length = u32::try_from(length).expect("a block is far below 4 GiB");
        self.out[at..at + 4].copy_from_slice(&length.to_le_bytes());
    }

    /// The bytes written since the last call.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        self.taken += self.out.len() as u64;
        std::mem::take(&mut self.out)
    }

    /// The rest of the file, with what its index says of the blocks.
    pub(crate) fn finish(mut self, notes: &[u8]) -> Vec<u8> {
        let offset = self.taken + self.out.len() as u64;
        self.index.extend_from_slice(notes);
        let crc = crc32(&self.index);
        self.out.append(&mut self.index);
        self.out.extend(offset.to_le_bytes());
        self.out.extend(self.blocks.to_le_bytes());
        self.out.extend(crc.to_le_bytes());
        self.out.extend(TRAILER_MAGIC);
        self.out
    }
}

/// A block that was located; its checksum is not verified yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockRef<'a> {
    pub(crate) start: u64,
    pub(crate) samples: u32,
    body: &'a [u8],
    crc: u32,
}

impl<'a> BlockRef<'a> {
    fn locate(bytes: &'a [u8], offset: u64) -> Option<Self> {
        let at = usize::try_from(offset).ok()?;
        let header = bytes.get(at..at.checked_add(BLOCK_HEADER_SIZE)?)?;
        let length = usize::try_from(u32_at(header, 0)?).ok()?;
        if length > BODY_MAX {
            return None;
        }
        let body_at = at + BLOCK_HEADER_SIZE;
        let body = bytes.get(body_at..body_at.checked_add(length)?)?;
        let (start, samples) = (u64_at(body, 0)?, u32_at(body, 8)?);
        Some(Self {
            start,
            samples,
            body,
            crc: u32_at(header, 4)?,
        })
    }

    /// The payload, once its checksum has been verified.
    pub(crate) fn payload(&self) -> Result<&'a [u8], SegmentError> {
        if crc32(self.body) != self.crc {
            return Err(SegmentError::Checksum { start: self.start });
        }
        Ok(&self.body[BODY_HEADER_SIZE..])
    }

    /// The head of a pack, once its checksum has been verified, and the frames behind it.
    pub(crate) fn pack(&self) -> Result<(&'a [u8], &'a [u8]), SegmentError> {
        let size = u32_at(self.body, BODY_HEADER_SIZE).and_then(|size| usize::try_from(size).ok());
        let end = size.and_then(|size| PACK_HEADER_SIZE.checked_add(size));
        let (covered, frames) = end
            .and_then(|end| self.body.split_at_checked(end))
            .filter(|(covered, _)| crc32(covered) == self.crc)
            .ok_or(SegmentError::Checksum { start: self.start })?;
        Ok((&covered[PACK_HEADER_SIZE..], frames))
    }

    /// First sample after the block.
    pub(crate) fn end(&self) -> u64 {
        self.start + u64::from(self.samples)
    }
}

/// A file being read.
#[derive(Clone, Debug)]
pub(crate) struct Container<'a> {
    /// Version of the format.
    pub(crate) version: u32,
    pub(crate) channels: u32,
    pub(crate) sample_rate_hz: f64,
    pub(crate) blocks: Vec<BlockRef<'a>>,
    /// What the index says of all blocks; none in files that were written before there were notes, or that have no index.
    pub(crate) notes: Option<&'a [u8]>,
}

impl<'a> Container<'a> {
    /// Opens a complete file.
    pub(crate) fn open(bytes: &'a [u8], content: Content) -> Result<Self, SegmentError> {
        let mut container = Self::header(bytes, content)?;
        let truncated = SegmentError::Truncated { what: "the index" };
        let trailer_at = bytes.len().checked_sub(TRAILER_SIZE).ok_or(truncated)?;
        let fields = trailer(&bytes[trailer_at..]);
        let (offset, count, crc) = fields.ok_or(SegmentError::Truncated { what: "the index" })?;
        let index = usize::try_from(offset)
            .ok()
            .and_then(|at| bytes.get(at..trailer_at));
        let index = index.ok_or(SegmentError::Damaged { what: "the index" })?;
        let entries = usize::try_from(count)
            .ok()
            .and_then(|count| index.split_at_checked(count.checked_mul(INDEX_ENTRY_SIZE)?));
        let (entries, notes) = entries.ok_or(SegmentError::Damaged { what: "the index" })?;
        let has_notes = content == Content::Logic && container.version >= VERSION_WITH_NOTES;
        if crc32(index) != crc || (!has_notes && !notes.is_empty()) {
            return Err(SegmentError::Damaged { what: "the index" });
        }
        container.notes = has_notes.then_some(notes);
        for entry in entries.chunks_exact(INDEX_ENTRY_SIZE) {
            let damaged = SegmentError::Damaged { what: "the index" };
            let block = u64_at(entry, 0).and_then(|offset| BlockRef::locate(bytes, offset));
            let block = block.ok_or(damaged)?;
            let said = (u64_at(entry, 8), u32_at(entry, 16));
            if said != (Some(block.start), Some(block.samples)) {
                return Err(SegmentError::Damaged { what: "the index" });
            }
            container.append(block, content)?;
        }
        Ok(container)
    }

    /// Opens a file whose end is missing, up to its last complete block that `is_sound`.
    pub(crate) fn recover(
        bytes: &'a [u8],
        content: Content,
        is_sound: impl Fn(&Self, &BlockRef<'a>) -> bool,
    ) -> Result<Self, SegmentError> {
        let mut container = Self::header(bytes, content)?;
        let mut offset = HEADER_SIZE as u64;
        while let Some(block) = BlockRef::locate(bytes, offset) {
            if !is_sound(&container, &block) || container.append(block, content).is_err() {
                break;
            }
            offset += (BLOCK_HEADER_SIZE + block.body.len()) as u64;
        }
        Ok(container)
    }

    /// An empty container.
    fn header(bytes: &'a [u8], content: Content) -> Result<Self, SegmentError> {
        let truncated = SegmentError::Truncated { what: "the header" };
        let header = bytes.get(..HEADER_SIZE).ok_or(truncated)?;
        if header[..8] != content.magic() {
            return Err(SegmentError::NotASegment);
        }
        let damaged = || SegmentError::Damaged { what: "the header" };
        if u32_at(header, HEADER_SIZE - 4) != Some(crc32(&header[..HEADER_SIZE - 4])) {
            return Err(damaged());
        }
        let version = u32_at(header, 8).ok_or_else(damaged)?;
        let newest = content.version();
        if !(1..=newest).contains(&version) {
            return Err(SegmentError::Version { version, newest });
        }
        let sample_rate_hz = u64_at(header, 16).map(f64::from_bits);
        let sample_rate_hz = sample_rate_hz.filter(|rate| rate.is_finite() && *rate > 0.0);
        let sample_rate_hz = sample_rate_hz.ok_or_else(damaged)?;
        let channels = u32_at(header, 12).ok_or_else(damaged)?;
        Ok(Self {
            version,
            channels,
            sample_rate_hz,
            blocks: Vec::new(),
            notes: None,
        })
    }

    /// Adds a block if it continues the previous one.
    fn append(&mut self, block: BlockRef<'a>, content: Content) -> Result<(), SegmentError> {
        let samples_max = content.samples_max(self.version);
        if block.start != self.samples() || block.samples == 0 || block.samples > samples_max {
            return Err(SegmentError::Damaged {
                what: "the order of the blocks",
            });
        }
        self.blocks.push(block);
        Ok(())
    }

    /// Samples in the file.
    pub(crate) fn samples(&self) -> u64 {
        self.blocks.last().map_or(0, BlockRef::end)
    }

    /// Index of the block that holds `sample`, or the number of blocks.
    pub(crate) fn find(&self, sample: u64) -> usize {
        self.blocks.partition_point(|block| block.end() <= sample)
    }
}

/// Index offset, block count and checksum.
fn trailer(bytes: &[u8]) -> Option<(u64, u32, u32)> {
    if bytes[TRAILER_SIZE - 8..] != TRAILER_MAGIC {
        return None;
    }
    Some((u64_at(bytes, 0)?, u32_at(bytes, 8)?, u32_at(bytes, 12)?))
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

pub(crate) fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}
