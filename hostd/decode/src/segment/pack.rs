//! A pack: what a few blocks in a row have of every channel.
//!
//! Few toggles pack badly, and a block has few of most channels. So what a channel has in the blocks of a pack is packed
//! together, and where a channel has much in one block, that is cut into parts: a look-up unpacks at most some ten thousand
//! bytes either way.
//!
//! ```text
//! head     levels before the first sample u64
//!          per channel: bytes of its row varint (0: it rests), and unless 0, bytes of its frames varint
//!          rows
//! frames   by channel, in the order of the row
//!
//! row      number of shared frames varint, per frame: bytes unpacked varint, frame
//!          per block: piece varint
//! piece    bit 0 level before the block; bits 1 and 2 form; higher bits value
//!          form 0 rests
//!               1 distances, the next `value` bytes of the shared frames; none lies in two of them
//!               2 distances in `1 << value` parts, 3 levels in so many: per part
//!                 level before it (bit 0) and toggles (higher bits) varint, and unless there are none
//!                 of distances their bytes varint; a frame
//! frame    its bytes varint  crc32 u32; as many bytes as unpacked are not packed, others are with zstd
//! ```
//!
//! Parts are as long as a block divided by their number; those behind the last sample are left out.

use super::frame::Frame;
use super::lane::Lane;
use super::{BLOCK_SAMPLES, DAMAGED, PACK_BLOCKS_MAX, SegmentError, distances};
use crate::container::BlockRef;
use crate::varint;
use std::ops::Range;

pub(super) const RESTS: u64 = 0;
pub(super) const SHARED: u64 = 1;
pub(super) const PARTS_OF_DISTANCES: u64 = 2;
pub(super) const PARTS_OF_LEVELS: u64 = 3;

/// Most parts of a block, as a power of two. A part begins with a machine word.
pub(super) const PARTS_LOG2_MAX: u32 = 4;

/// Most bytes of a shared frame.
pub(super) const SHARED_BYTES_MAX: usize = 1 << 20;

/// What a channel has in a block.
#[derive(Clone, Debug)]
pub(super) struct Piece<'a> {
    /// Level before the block.
    level: bool,
    content: Content<'a>,
}

#[derive(Clone, Debug)]
enum Content<'a> {
    Rests,
    /// Distances: these bytes of the frame with this number.
    Shared(usize, Frame<'a>, Range<usize>),
    Parts(Vec<Part<'a>>),
}

/// Some of the samples of a block.
#[derive(Clone, Debug)]
pub(super) struct Part<'a> {
    /// Where they are in the block.
    pub(super) range: Range<u32>,
    /// Level before them.
    level: bool,
    /// Toggles.
    pub(super) count: u32,
    /// None where there are no toggles.
    frame: Option<Frame<'a>>,
    is_plane: bool,
}

/// A pack whose head is sound.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pack<'a> {
    start: u64,
    samples: u32,
    levels: u64,
    table: &'a [u8],
    channels: usize,
    frames: &'a [u8],
}

/// A channel of a pack that does not rest.
struct Row<'a> {
    pieces: &'a [u8],
    shared: Vec<Frame<'a>>,
    /// Behind the shared ones.
    frames: &'a [u8],
}

impl<'a> Pack<'a> {
    pub(super) fn parse(block: &BlockRef<'a>, channels: usize) -> Result<Self, SegmentError> {
        let (head, frames) = block.pack()?;
        let (levels, table) = head.split_first_chunk::<8>().ok_or(DAMAGED)?;
        Ok(Self {
            start: block.start,
            samples: block.samples,
            levels: u64::from_le_bytes(*levels),
            table,
            channels,
            frames,
        })
    }

    /// Whether all that is in it is sound, every frame included.
    pub(super) fn is_sound(&self) -> bool {
        let is_right = |frame: &Option<Frame<'_>>| frame.is_none_or(|frame| frame.is_sound());
        (0..self.channels).all(|channel| match self.row(channel) {
            None => false,
            Some(None) => true,
            Some(Some(row)) => {
                let whole = self.is_whole(&row, |part| is_right(&part.frame));
                whole == Some(true) && row.shared.iter().all(Frame::is_sound)
            }
        })
    }

    /// The row of a channel; `Some(None)` if it rests, `None` if the head is damaged.
    fn row(&self, channel: usize) -> Option<Option<Row<'a>>> {
        let mut table = self.table;
        let (mut rows_before, mut frames_before) = (0usize, 0usize);
        let mut found = None;
        for number in 0..self.channels {
            let row = usize::try_from(varint::take(&mut table)?).ok()?;
            let frames = match row {
                0 => 0,
                _ => usize::try_from(varint::take(&mut table)?).ok()?,
            };
            if number == channel {
                found = Some((rows_before, row, frames_before, frames));
            }
            rows_before = rows_before.checked_add(row)?;
            frames_before = frames_before.checked_add(frames)?;
        }
        let (row_at, row, frames_at, frames) = found?;
        if (rows_before, frames_before) != (table.len(), self.frames.len()) {
            return None;
        }
        if row == 0 {
            return Some(None);
        }
        let mut pieces = table.get(row_at..row_at.checked_add(row)?)?;
        let mut frames = self.frames.get(frames_at..frames_at.checked_add(frames)?)?;
        let count = varint::take(&mut pieces)?;
        if count > PACK_BLOCKS_MAX.into() {
            return None;
        }
        let mut shared = Vec::new();
        for _ in 0..count {
            let size = usize::try_from(varint::take(&mut pieces)?).ok()?;
            let size = (1..=SHARED_BYTES_MAX).contains(&size).then_some(size)?;
            shared.push(Frame::take(&mut pieces, &mut frames, size)?);
        }
        Some(Some(Row {
            pieces,
            shared,
            frames,
        }))
    }

    /// What a channel has in a block of the pack.
    pub(super) fn piece(&self, number: u32, channel: usize) -> Result<Piece<'a>, SegmentError> {
        match self.row(channel).ok_or(DAMAGED)? {
            None => Ok(Piece {
                level: self.levels >> channel & 1 != 0,
                content: Content::Rests,
            }),
            Some(row) => self.find(&row, number).ok_or(DAMAGED),
        }
    }

    fn find(&self, row: &Row<'a>, number: u32) -> Option<Piece<'a>> {
        let mut walk = Walk::new(row, self.samples);
        for _ in 0..number {
            walk.next(&mut |_| ())?;
        }
        let mut parts = Vec::new();
        let (level, shared) = walk.next(&mut |part| parts.push(part))?;
        let content = match shared {
            Some((frame, range)) => Content::Shared(frame, *row.shared.get(frame)?, range),
            None if parts.is_empty() => Content::Rests,
            None => Content::Parts(parts),
        };
        Some(Piece { level, content })
    }

    /// Whether a row has a piece for each block and nothing else, and all parts are right.
    fn is_whole(&self, row: &Row<'a>, is_right: impl Fn(&Part<'a>) -> bool) -> Option<bool> {
        let mut walk = Walk::new(row, self.samples);
        let mut all = true;
        for _ in 0..self.samples.div_ceil(BLOCK_SAMPLES) {
            walk.next(&mut |part| all &= is_right(&part))?;
        }
        let is_end = walk.pieces.is_empty() && walk.frames.is_empty() && walk.shared.is_empty();
        Some(all && is_end)
    }

    /// Unpacks what a channel has in a block; `key` is the pack's number, by which `lane` knows what it holds.
    pub(super) fn unpack(
        &self,
        (key, number): (usize, u32),
        channel: usize,
        lane: &mut Lane,
    ) -> Result<(), SegmentError> {
        let piece = self.piece(number, channel)?;
        let samples = self.block_samples(number)?;
        lane.begin(piece.level, samples);
        match piece.content {
            Content::Rests => Ok(()),
            Content::Shared(number, frame, range) => {
                lane.share((key, channel, number), self.start, &frame)?;
                lane.add_shared(range).ok_or(DAMAGED)
            }
            Content::Parts(parts) => {
                for part in &parts {
                    self.unpack_part(part, 0, lane)?;
                }
                Ok(())
            }
        }
    }

    /// Unpacks the part of a block that holds an offset; returns where in the block that is.
    pub(super) fn unpack_at(
        &self,
        (key, number): (usize, u32),
        channel: usize,
        offset: u32,
        lane: &mut Lane,
    ) -> Result<Range<u32>, SegmentError> {
        let piece = self.piece(number, channel)?;
        let Content::Parts(parts) = &piece.content else {
            self.unpack((key, number), channel, lane)?;
            return Ok(0..self.block_samples(number)?);
        };
        let part = parts.iter().find(|part| offset < part.range.end);
        let part = part.or(parts.last()).ok_or(DAMAGED)?;
        lane.begin(part.level, part.range.end - part.range.start);
        self.unpack_part(part, part.range.start, lane)?;
        Ok(part.range.clone())
    }

    /// Adds a part to a lane that begins with sample `base` of the block.
    fn unpack_part(&self, part: &Part<'a>, base: u32, lane: &mut Lane) -> Result<(), SegmentError> {
        let range = part.range.start - base..part.range.end - base;
        let added = match part.frame {
            None => lane.add_rest(part.level, range, part.is_plane),
            Some(frame) => {
                let plain = lane.open(self.start, &frame)?;
                let added = match part.is_plane {
                    true => lane.add_plane(part.level, &plain, range),
                    false => lane.add_part(part.level, &plain, range, part.count),
                };
                lane.keep(plain);
                added
            }
        };
        added.ok_or(DAMAGED)
    }

    fn block_samples(&self, number: u32) -> Result<u32, SegmentError> {
        let before = number.checked_mul(BLOCK_SAMPLES).ok_or(DAMAGED)?;
        let left = self.samples.checked_sub(before).ok_or(DAMAGED)?;
        Ok(left.min(BLOCK_SAMPLES))
    }
}

impl<'a> Piece<'a> {
    /// Toggles of its parts, and where in the block these are; none if it is not cut.
    pub(super) fn counts(&self) -> Option<impl Iterator<Item = (Range<u32>, u32)>> {
        match &self.content {
            Content::Parts(parts) => {
                Some(parts.iter().map(|part| (part.range.clone(), part.count)))
            }
            Content::Rests | Content::Shared(..) => None,
        }
    }
}

/// Goes from piece to piece.
struct Walk<'a, 'r> {
    pieces: &'a [u8],
    frames: &'a [u8],
    /// Shared frames that are not used up, the number of the first one, and how much of that is.
    shared: &'r [Frame<'a>],
    number: usize,
    used: usize,
    /// Samples that are left of the pack.
    left: u32,
}

/// The number of a shared frame, and which of its bytes.
type Share = (usize, Range<usize>);

impl<'a, 'r> Walk<'a, 'r> {
    fn new(row: &'r Row<'a>, samples: u32) -> Self {
        Self {
            pieces: row.pieces,
            frames: row.frames,
            shared: &row.shared,
            number: 0,
            used: 0,
            left: samples,
        }
    }

    /// The level before the next piece and its share of a frame, if it has one; or its parts.
    fn next(&mut self, each: &mut dyn FnMut(Part<'a>)) -> Option<(bool, Option<Share>)> {
        let samples = self.left.min(BLOCK_SAMPLES);
        self.left -= samples;
        let piece = varint::take(&mut self.pieces)?;
        let (level, form, value) = (piece & 1 != 0, piece >> 1 & 3, piece >> 3);
        match form {
            RESTS => (samples > 0 && value == 0).then_some((level, None)),
            SHARED => {
                let share = self.share(usize::try_from(value).ok()?)?;
                (samples > 0).then_some((level, Some(share)))
            }
            _ => {
                let log2 = u32::try_from(value).ok()?;
                if samples == 0 || log2 > PARTS_LOG2_MAX {
                    return None;
                }
                let wide = BLOCK_SAMPLES >> log2;
                for from in (0..samples).step_by(wide as usize) {
                    let range = from..(from + wide).min(samples);
                    each(self.part(range, form == PARTS_OF_LEVELS)?);
                }
                Some((level, None))
            }
        }
    }

    /// The next bytes of the shared frames.
    fn share(&mut self, bytes: usize) -> Option<Share> {
        let (frame, behind) = self.shared.split_first()?;
        let (number, from) = (self.number, self.used);
        self.used = from.checked_add(bytes)?;
        if bytes == 0 || self.used > frame.size {
            return None;
        }
        let to = self.used;
        if to == frame.size {
            (self.shared, self.number, self.used) = (behind, number + 1, 0);
        }
        Some((number, from..to))
    }

    fn part(&mut self, range: Range<u32>, is_plane: bool) -> Option<Part<'a>> {
        let first = varint::take(&mut self.pieces)?;
        let count = u32::try_from(first >> 1).ok()?;
        let samples = range.end - range.start;
        if count > samples {
            return None;
        }
        let frame = match (count, is_plane) {
            (0, _) => None,
            (_, true) => {
                let size = samples.div_ceil(u64::BITS) as usize * 8;
                Some(Frame::take(&mut self.pieces, &mut self.frames, size)?)
            }
            (_, false) => {
                let size = usize::try_from(varint::take(&mut self.pieces)?).ok()?;
                if size > count as usize * distances::BYTES_MAX {
                    return None;
                }
                Some(Frame::take(&mut self.pieces, &mut self.frames, size)?)
            }
        };
        Some(Part {
            range,
            level: first & 1 != 0,
            count,
            frame,
            is_plane,
        })
    }
}
