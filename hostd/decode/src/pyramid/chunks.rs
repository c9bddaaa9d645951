//! Chunks of cells as bytes.

use super::cells;
use crate::analog::{fold, unfold};
use zstd::bulk;

const PLAIN: u8 = 0;
const PACKED: u8 = 1;

/// zstd level: cells hardly vary.
const LEVEL: i32 = 1;

/// Fewer bytes than this are stored unpacked.
const PACK_MIN: usize = 64;

/// States of a logic channel in the cells of a chunk, a byte each, by channel.
pub(super) fn of_logic(channels: &[Vec<u8>]) -> Vec<u8> {
    let mut plain = Vec::new();
    let same = |cells: &Vec<u8>| {
        let first = cells.first().copied().unwrap_or(0);
        cells.iter().all(|&cell| cell == first).then_some(first)
    };
    plain.extend(channels.iter().map(|cells| same(cells).unwrap_or(0)));
    for cells in channels.iter().filter(|cells| same(cells).is_none()) {
        plain.extend(cells::pack(cells));
    }
    packed(&plain)
}

/// Lowest and highest counts of an analog channel.
pub(super) fn of_analog(min: &[u16], max: &[u16]) -> Vec<u8> {
    let mut plain = fold(min);
    plain.append(&mut fold(max));
    packed(&plain)
}

fn packed(plain: &[u8]) -> Vec<u8> {
    let mut bytes = vec![PLAIN];
    if plain.len() < PACK_MIN {
        bytes.extend(plain);
        return bytes;
    }
    bytes[0] = PACKED;
    bytes.extend(bulk::compress(plain, LEVEL).expect("memory for one chunk is all it takes"));
    bytes
}

/// What `packed` was given, at most `size` bytes.
fn plain(bytes: &[u8], size: usize) -> Option<Vec<u8>> {
    match bytes.split_first()? {
        (&PLAIN, plain) => (plain.len() <= size).then(|| plain.to_vec()),
        (&PACKED, packed) => bulk::decompress(packed, size).ok(),
        _ => None,
    }
}

/// The states of all channels in `count` cells.
pub(super) fn logic(bytes: &[u8], channels: usize, count: usize) -> Option<Vec<Vec<u8>>> {
    let row = count.div_ceil(4);
    let plain = plain(bytes, channels * (1 + row))?;
    let (tags, mut rest) = plain.split_at_checked(channels)?;
    let mut all = Vec::with_capacity(channels);
    for &tag in tags {
        all.push(match tag {
            0 => {
                let (packed, behind) = rest.split_at_checked(row)?;
                rest = behind;
                let mut out = Vec::new();
                cells::unpack(packed, count, &mut out);
                out
            }
            1..=3 => vec![tag; count],
            _ => return None,
        });
    }
    rest.is_empty().then_some(all)
}

/// Lowest and highest counts in `count` cells.
pub(super) fn analog(bytes: &[u8], count: usize) -> Option<(Vec<u16>, Vec<u16>)> {
    let plain = plain(bytes, count * 4)?;
    if plain.len() != count * 4 {
        return None;
    }
    let (low, high) = plain.split_at(count * 2);
    let (mut min, mut max) = (Vec::with_capacity(count), Vec::with_capacity(count));
    unfold(low, &mut min);
    unfold(high, &mut max);
    Some((min, max))
}
