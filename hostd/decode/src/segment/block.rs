//! One block: up to a million samples of every channel.
//!
//! ```text
//! levels before the first sample u64
//! per channel: encoding u8, and unless constant: toggles varint, length varint, packed length varint
//! per channel: its packed bytes
//! ```

use super::lane::Lane;
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

/// Encodes a block from its toggles: one bitmap per channel, sample 0 in the lowest bit. Also returns how many each
/// channel has.
pub(super) fn encode(levels: u64, samples: u32, toggles: &[Vec<u64>]) -> (Vec<u8>, Vec<u32>) {
    let mut head = Vec::new();
    let mut packed = Vec::new();
    let mut counts = Vec::with_capacity(toggles.len());
    head.extend(levels.to_le_bytes());
    for (channel, toggles) in toggles.iter().enumerate() {
        let level = levels >> channel & 1;
        let count = toggles.iter().map(|word| word.count_ones()).sum();
        counts.push(count);
        encode_channel((level, count), samples, toggles, &mut head, &mut packed);
    }
    head.append(&mut packed);
    (head, counts)
}

fn encode_channel(
    (level, count): (u64, u32),
    samples: u32,
    toggles: &[u64],
    head: &mut Vec<u8>,
    packed: &mut Vec<u8>,
) {
    let count = count as usize;
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

impl Channel<'_> {
    /// Whether bytes that are not packed are as many as the table says.
    fn is_whole(&self) -> bool {
        self.encoding != PLAIN_DISTANCES || self.packed.len() == self.plain_len
    }
}

/// A block whose checksum has been verified.
pub(crate) struct Block<'a> {
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

    /// Toggles of the channel, without unpacking them.
    pub(super) fn count(&self, channel: usize) -> u32 {
        let count = self.channels[channel].count;
        u32::try_from(count).expect("a block has fewer toggles than samples")
    }

    /// Puts the channel's toggles into `out`: offsets into the block, ascending.
    pub(super) fn toggles(&self, channel: usize, out: &mut Vec<u32>) -> Result<(), SegmentError> {
        let mut lane = Lane::default();
        std::mem::swap(lane.list(), out);
        self.unpack(channel, &mut lane)?;
        lane.expand();
        std::mem::swap(lane.list(), out);
        Ok(())
    }

    /// Unpacks the channel; a dense one stays a plane.
    pub(crate) fn unpack(&self, channel: usize, lane: &mut Lane) -> Result<(), SegmentError> {
        let packed = &self.channels[channel];
        let level = self.levels >> channel & 1 != 0;
        lane.begin(level, self.samples);
        let count = match packed.encoding {
            CONSTANT => Some(0),
            PLAIN_DISTANCES => add_distances(packed.packed, self.samples, lane.list()),
            encoding => {
                let plain = lane.decompress(packed.packed, packed.plain_len);
                let plain = plain.ok_or_else(damaged)?;
                let count = if encoding == PLANE {
                    lane.take_plane(&plain)
                } else {
                    add_distances(&plain, self.samples, lane.list())
                };
                lane.keep(plain);
                count
            }
        };
        let is_right = count == Some(packed.count) && packed.is_whole();
        is_right.then_some(()).ok_or_else(damaged)
    }
}

/// Turns distances into offsets; returns how many. `None` if they do not ascend, or leave the block.
fn add_distances(plain: &[u8], samples: u32, out: &mut Vec<u32>) -> Option<usize> {
    const MORE: u64 = 0x8080_8080_8080_8080;
    const ONES: u64 = 0x0101_0101_0101_0101;
    let mut rest = plain;
    let mut at: u32 = 0;
    while !rest.is_empty() {
        if let Some((eight, behind)) = rest.split_first_chunk::<8>() {
            let word = u64::from_le_bytes(*eight);
            // Neither a distance of several bytes nor a zero: most of what is stored.
            if (word | word.wrapping_sub(ONES)) & MORE == 0 {
                out.extend(eight.iter().map(|&distance| {
                    at += u32::from(distance);
                    at
                }));
                if at >= samples {
                    return None;
                }
                rest = behind;
                continue;
            }
        }
        let distance = varint::take(&mut rest)?;
        if distance == 0 && !out.is_empty() {
            return None;
        }
        at = u32::try_from(distance)
            .ok()
            .and_then(|distance| at.checked_add(distance))
            .filter(|&at| at < samples)?;
        out.push(at);
    }
    Some(out.len())
}
