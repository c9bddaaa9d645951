//! Stored logic captures as versions 1 and 2 of the format wrote them: each block packed by itself.

use decode::segment::BLOCK_SAMPLES;
use zstd::bulk;

const CONSTANT: u8 = 0;
const PLAIN_DISTANCES: u8 = 1;
const DISTANCES: u8 = 2;
const PLANE: u8 = 3;

fn push(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    out.push(value.to_le_bytes()[0]);
}

fn checksummed(bytes: &mut Vec<u8>) {
    let crc = libdeflater::crc32(bytes);
    bytes.extend(crc.to_le_bytes());
}

/// A file of the lowest `channels` bits of samples, at 1 MHz. Version 2 has notes in its index.
pub(crate) fn encoded(samples: &[u8], channels: u32, version: u32) -> Vec<u8> {
    let mut file = b"hostdLOG".to_vec();
    file.extend(version.to_le_bytes());
    file.extend(channels.to_le_bytes());
    file.extend(1e6f64.to_le_bytes());
    file.extend([0; 4]);
    checksummed(&mut file);
    let (mut index, mut notes) = (Vec::new(), Vec::new());
    let (mut last, mut noted) = (samples.first().copied().unwrap_or(0), 0);
    let blocks = samples.chunks(BLOCK_SAMPLES as usize);
    for (number, block) in blocks.clone().enumerate() {
        let start = number as u64 * u64::from(BLOCK_SAMPLES);
        let count = u32::try_from(block.len()).expect("a block is short");
        index.extend((file.len() as u64).to_le_bytes());
        index.extend(start.to_le_bytes());
        index.extend(count.to_le_bytes());
        let levels = u64::from(last) & ((1 << channels) - 1);
        let mut body = start.to_le_bytes().to_vec();
        body.extend(count.to_le_bytes());
        body.extend(levels.to_le_bytes());
        push(&mut notes, levels ^ noted);
        let (mut packed, mut moving, mut counts) = (Vec::new(), 0, Vec::new());
        for channel in 0..channels {
            let toggles = channel_of((last, block), channel, &mut body, &mut packed);
            if toggles > 0 {
                moving |= 1 << channel;
                counts.push(toggles);
            }
        }
        push(&mut notes, moving);
        counts.iter().for_each(|count| push(&mut notes, *count));
        body.append(&mut packed);
        file.extend(u32::try_from(body.len()).expect("small").to_le_bytes());
        file.extend(libdeflater::crc32(&body).to_le_bytes());
        file.append(&mut body);
        last = block.last().copied().unwrap_or(last);
        noted = u64::from(last) & ((1 << channels) - 1);
    }
    if version >= 2 {
        index.append(&mut notes);
    }
    let (offset, crc) = (file.len() as u64, libdeflater::crc32(&index));
    file.append(&mut index);
    file.extend(offset.to_le_bytes());
    file.extend(u32::try_from(blocks.len()).expect("few").to_le_bytes());
    file.extend(crc.to_le_bytes());
    file.extend(b"hostdEND");
    file
}

/// Adds a channel of a block; returns how often it toggles.
fn channel_of(
    (before, block): (u8, &[u8]),
    channel: u32,
    table: &mut Vec<u8>,
    packed: &mut Vec<u8>,
) -> u64 {
    let level = |sample: u8| sample >> channel & 1 != 0;
    let mut last = level(before);
    let (mut distances, mut plane) = (Vec::new(), vec![0u64; block.len().div_ceil(64)]);
    let (mut toggles, mut from) = (0u64, 0);
    for (at, &sample) in block.iter().enumerate() {
        if level(sample) != last {
            push(&mut distances, (at - from) as u64);
            (from, last) = (at, level(sample));
            toggles += 1;
        }
        plane[at / 64] |= u64::from(last) << (at % 64);
    }
    // Behind the end a plane goes on with the last level.
    if let (Some(word), true) = (plane.last_mut(), last && block.len() % 64 != 0) {
        *word |= u64::MAX << (block.len() % 64);
    }
    if toggles == 0 {
        table.push(CONSTANT);
        return 0;
    }
    let is_dense = toggles * 10 > block.len() as u64;
    let plain: Vec<u8> = match is_dense {
        true => plane.iter().flat_map(|word| word.to_le_bytes()).collect(),
        false => distances,
    };
    let is_packed = is_dense || plain.len() >= 64;
    let bytes = match is_packed {
        true => bulk::compress(&plain, 1).expect("memory is enough"),
        false => plain.clone(),
    };
    table.push(match (is_dense, is_packed) {
        (true, _) => PLANE,
        (false, true) => DISTANCES,
        (false, false) => PLAIN_DISTANCES,
    });
    push(table, toggles);
    push(table, plain.len() as u64);
    push(table, bytes.len() as u64);
    packed.extend(bytes);
    toggles
}
