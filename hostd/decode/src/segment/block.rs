//! A block of a file that was written before there were packs: up to a million samples of every channel.
//!
//! ```text
//! levels before the first sample u64
//! per channel: encoding u8, and unless constant: toggles varint, length varint, packed length varint
//! per channel: its packed bytes
//! ```

use super::lane::Lane;
use super::{BLOCK_SAMPLES, DAMAGED, SegmentError, distances};
use crate::container::BlockRef;
use crate::varint;

const CONSTANT: u8 = 0;
/// Varint distances, too few bytes to be worth packing.
const PLAIN_DISTANCES: u8 = 1;
const DISTANCES: u8 = 2;
const PLANE: u8 = 3;

const PLANE_BYTES_MAX: usize = BLOCK_SAMPLES as usize / 8;

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
pub(super) struct Block<'a> {
    levels: u64,
    samples: u32,
    channels: Vec<Channel<'a>>,
}

impl<'a> Block<'a> {
    pub(super) fn parse(block: &BlockRef<'a>, channels: usize) -> Result<Self, SegmentError> {
        let payload = block.payload()?;
        let (levels, mut rest) = payload.split_first_chunk::<8>().ok_or(DAMAGED)?;
        let mut table = Vec::with_capacity(channels);
        for _ in 0..channels {
            table.push(Self::channel(&mut rest, block.samples).ok_or(DAMAGED)?);
        }
        let mut parsed = Vec::with_capacity(channels);
        for (mut channel, packed_len) in table {
            let (packed, behind) = rest.split_at_checked(packed_len).ok_or(DAMAGED)?;
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
            PLAIN_DISTANCES | DISTANCES => count.checked_mul(distances::BYTES_MAX)?,
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

    /// Unpacks the channel; a dense one stays a plane.
    pub(super) fn unpack(&self, channel: usize, lane: &mut Lane) -> Result<(), SegmentError> {
        let packed = &self.channels[channel];
        let level = self.levels >> channel & 1 != 0;
        lane.begin(level, self.samples);
        let count = match packed.encoding {
            CONSTANT => Some(0),
            PLAIN_DISTANCES => lane.add_distances(packed.packed),
            encoding => {
                let plain = lane.decompress(packed.packed, packed.plain_len);
                let plain = plain.ok_or(DAMAGED)?;
                let count = if encoding == PLANE {
                    lane.take_plane(&plain)
                } else {
                    lane.add_distances(&plain)
                };
                lane.keep(plain);
                count
            }
        };
        let is_right = count == Some(packed.count) && packed.is_whole();
        is_right.then_some(()).ok_or(DAMAGED)
    }
}
