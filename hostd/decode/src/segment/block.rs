//! One block: up to a million samples of every channel.
//!
//! ```text
//! levels before the first sample u64
//! per channel: encoding u8, and unless constant: toggles varint, length varint, packed length varint
//! per channel: its packed bytes
//! ```

use super::{BLOCK_SAMPLES, SegmentError};
use crate::container::BlockRef;
use crate::varint;
use zstd::bulk;

const CONSTANT: u8 = 0;
/// Varint distances, too few bytes to be worth packing.
const PLAIN_DISTANCES: u8 = 1;
const DISTANCES: u8 = 2;
const PLANE: u8 = 3;

/// zstd level. Level 3 gains 5 % at twice the time.
const LEVEL: i32 = 1;

/// Fewer bytes than this are stored unpacked.
const PACK_MIN: usize = 64;

/// A channel with more than one toggle per this many samples is stored as a plane: unpacking its
/// distances would take longer than scanning its samples.
const DENSE: usize = 10;

/// No distance within a block needs a longer varint.
const DISTANCE_BYTES_MAX: usize = 3;

const PLANE_BYTES_MAX: usize = BLOCK_SAMPLES as usize / 8;

fn damaged() -> SegmentError {
    SegmentError::Damaged { what: "a block" }
}

/// Encodes a block from its toggles: one bitmap per channel, sample 0 in the lowest bit.
pub(super) fn encode(levels: u64, samples: u32, toggles: &[Vec<u64>]) -> Vec<u8> {
    let mut head = Vec::new();
    let mut packed = Vec::new();
    head.extend(levels.to_le_bytes());
    for (channel, toggles) in toggles.iter().enumerate() {
        let level = levels >> channel & 1;
        encode_channel(level, samples, toggles, &mut head, &mut packed);
    }
    head.append(&mut packed);
    head
}

fn encode_channel(
    level: u64,
    samples: u32,
    toggles: &[u64],
    head: &mut Vec<u8>,
    packed: &mut Vec<u8>,
) {
    let count: usize = toggles.iter().map(|word| word.count_ones() as usize).sum();
    if count == 0 {
        return head.push(CONSTANT);
    }
    let is_dense = count * DENSE > samples as usize;
    let plain = if is_dense {
        plane(level, samples, toggles)
    } else {
        distances(toggles, count)
    };
    let worthwhile = is_dense || plain.len() >= PACK_MIN;
    let (encoding, bytes) = if worthwhile {
        let bytes = bulk::compress(&plain, LEVEL).expect("memory for one block is all it takes");
        (if is_dense { PLANE } else { DISTANCES }, bytes)
    } else {
        (PLAIN_DISTANCES, plain.clone())
    };
    head.push(encoding);
    varint::push(head, count as u64);
    varint::push(head, plain.len() as u64);
    varint::push(head, bytes.len() as u64);
    packed.extend(bytes);
}

fn distances(toggles: &[u64], count: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(count * 2);
    let mut last = 0;
    for (index, word) in toggles.iter().enumerate() {
        let mut word = *word;
        while word != 0 {
            let at = index as u64 * 64 + u64::from(word.trailing_zeros());
            varint::push(&mut bytes, at - last);
            last = at;
            word &= word - 1;
        }
    }
    bytes
}

fn plane(level: u64, samples: u32, toggles: &[u64]) -> Vec<u8> {
    let mut level = level.wrapping_neg();
    let words = &toggles[..samples.div_ceil(64) as usize];
    let levels = words.iter().map(|word| {
        let plane = prefix_xor(*word) ^ level;
        level = (plane >> 63).wrapping_neg();
        plane
    });
    levels.flat_map(u64::to_le_bytes).collect()
}

/// Turns toggles into levels: bit `i` of the result is the parity of bits `0..=i`.
#[inline(always)]
pub(super) fn prefix_xor(toggles: u64) -> u64 {
    let mut levels = toggles;
    levels ^= levels << 1;
    levels ^= levels << 2;
    levels ^= levels << 4;
    levels ^= levels << 8;
    levels ^= levels << 16;
    levels ^= levels << 32;
    levels
}

/// A channel of a block, still packed.
#[derive(Clone, Copy)]
struct Channel<'a> {
    encoding: u8,
    count: usize,
    plain_len: usize,
    packed: &'a [u8],
}

/// A block whose checksum has been verified.
pub(super) struct Block<'a> {
    levels: u64,
    samples: u32,
    channels: Vec<Channel<'a>>,
}

impl<'a> Block<'a> {
    pub(super) fn parse(block: &BlockRef<'a>, channels: usize) -> Result<Self, SegmentError> {
        let payload = block.payload()?;
        let (levels, mut rest) = payload.split_first_chunk::<8>().ok_or_else(damaged)?;
        let mut table = Vec::with_capacity(channels);
        for _ in 0..channels {
            table.push(Self::channel(&mut rest, block.samples).ok_or_else(damaged)?);
        }
        let mut parsed = Vec::with_capacity(channels);
        for (mut channel, packed_len) in table {
            let (packed, behind) = rest.split_at_checked(packed_len).ok_or_else(damaged)?;
            channel.packed = packed;
            rest = behind;
            parsed.push(channel);
        }
        let levels = u64::from_le_bytes(*levels);
        Ok(Self {
            levels,
            samples: block.samples,
            channels: parsed,
        })
    }

    /// Reads one row of the channel table; lengths are checked against what a block can hold.
    fn channel(rest: &mut &'a [u8], samples: u32) -> Option<(Channel<'a>, usize)> {
        let (&encoding, behind) = rest.split_first()?;
        *rest = behind;
        if encoding == CONSTANT {
            return Some((
                Channel {
                    encoding,
                    count: 0,
                    plain_len: 0,
                    packed: &[],
                },
                0,
            ));
        }
        let mut number = || usize::try_from(varint::take(rest)?).ok();
        let (count, plain_len, packed_len) = (number()?, number()?, number()?);
        let plain_max = match encoding {
            PLANE => PLANE_BYTES_MAX,
            PLAIN_DISTANCES | DISTANCES => count.checked_mul(DISTANCE_BYTES_MAX)?,
            _ => return None,
        };
        let is_plausible = count <= samples as usize && plain_len <= plain_max;
        is_plausible.then_some((
            Channel {
                encoding,
                count,
                plain_len,
                packed: &[],
            },
            packed_len,
        ))
    }

    /// Levels before the first sample, channel 0 in bit 0.
    pub(super) fn levels(&self) -> u64 {
        self.levels
    }

    /// Puts the channel's toggles into `out`: offsets into the block, ascending.
    pub(super) fn toggles(&self, channel: usize, out: &mut Vec<u32>) -> Result<(), SegmentError> {
        out.clear();
        let packed = &self.channels[channel];
        if packed.encoding == CONSTANT {
            return Ok(());
        }
        let unpacked;
        let plain = if packed.encoding == PLAIN_DISTANCES {
            packed.packed
        } else {
            unpacked = bulk::decompress(packed.packed, packed.plain_len).map_err(|_| damaged())?;
            &unpacked
        };
        if plain.len() != packed.plain_len {
            return Err(damaged());
        }
        out.reserve(packed.count);
        let done = if packed.encoding == PLANE {
            self.scan_plane(self.levels >> channel & 1, plain, out)
        } else {
            self.add_distances(plain, out)
        };
        done.filter(|()| out.len() == packed.count)
            .ok_or_else(damaged)
    }

    fn add_distances(&self, plain: &[u8], out: &mut Vec<u32>) -> Option<()> {
        let mut rest = plain;
        let mut at: u64 = 0;
        while !rest.is_empty() {
            let distance = varint::take(&mut rest)?;
            if distance == 0 && !out.is_empty() {
                return None;
            }
            at = at
                .checked_add(distance)
                .filter(|&at| at < self.samples.into())?;
            out.push(u32::try_from(at).ok()?);
        }
        Some(())
    }

    fn scan_plane(&self, level: u64, plain: &[u8], out: &mut Vec<u32>) -> Option<()> {
        if plain.len() != self.samples.div_ceil(64) as usize * 8 {
            return None;
        }
        let mut level = level;
        for (index, word) in (0u32..).zip(plain.as_chunks::<8>().0) {
            let plane = u64::from_le_bytes(*word);
            let mut toggles = plane ^ (plane << 1 | level);
            level = plane >> 63;
            while toggles != 0 {
                let at = index * 64 + toggles.trailing_zeros();
                if at >= self.samples {
                    return None;
                }
                out.push(at);
                toggles &= toggles - 1;
            }
        }
        Some(())
    }
}
