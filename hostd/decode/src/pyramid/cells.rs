//! States of a logic channel in cells: from its toggles, and from finer cells.

use super::{HIGH, LOW};

/// Bits of a machine word, as a power of two.
const WORD: u32 = 6;

/// The state of a cell with one level.
pub(super) fn of_level(level: bool) -> u8 {
    if level { HIGH } else { LOW }
}

/// Appends the states of cells of `1 << log2` samples, the first of which begins with `words`: a bit for each sample at
/// which the channel toggles. `level` is that before the first sample. Returns the level behind the last one.
pub(super) fn append(
    words: &[u64],
    samples: u32,
    log2: u32,
    level: bool,
    out: &mut Vec<u8>,
) -> bool {
    let mut level = u64::from(level);
    if log2 >= WORD {
        let wide = 1usize << (log2 - WORD);
        for cell in words[..samples.div_ceil(64) as usize].chunks(wide) {
            let starts = level ^ cell[0] & 1;
            let changes = cell[1..].iter().fold(cell[0] & !1, |all, word| all | word);
            let odd = cell.iter().fold(0, |all, word| all ^ word).count_ones() & 1;
            out.push(state(starts, changes));
            level ^= u64::from(odd);
        }
        return level != 0;
    }
    let mask = u64::MAX >> (64 - (1 << log2));
    for cell in 0..samples.div_ceil(1 << log2) {
        let at = cell << log2;
        let toggles = words[(at / 64) as usize] >> (at % 64) & mask;
        let starts = level ^ toggles & 1;
        out.push(state(starts, toggles & !1));
        level ^= u64::from(toggles.count_ones() & 1);
    }
    level != 0
}

fn state(starts: u64, changes: u64) -> u8 {
    if changes != 0 {
        LOW | HIGH
    } else {
        of_level(starts != 0)
    }
}

/// Puts each `by` cells together, the last ones as far as there are any.
pub(super) fn folded(cells: &[u8], by: usize) -> impl Iterator<Item = u8> {
    cells
        .chunks(by)
        .map(|part| part.iter().fold(0, |all, cell| all | cell))
}

/// The same of lowest or highest counts.
pub(super) fn folded_counts(
    counts: &[u16],
    by: usize,
    pick: fn(u16, u16) -> u16,
) -> impl Iterator<Item = u16> {
    let parts = counts.chunks(by);
    parts.filter_map(move |part| part.iter().copied().reduce(pick))
}

/// Two bits a cell, low ones first.
pub(super) fn pack(cells: &[u8]) -> impl Iterator<Item = u8> {
    let bytes = cells.chunks(4);
    bytes.map(|four| {
        let placed = (0..).zip(four);
        placed.fold(0, |byte, (place, cell)| byte | cell << (2 * place))
    })
}

/// Appends `count` cells of what was packed.
pub(super) fn unpack(packed: &[u8], count: usize, out: &mut Vec<u8>) {
    out.reserve(count);
    let end = out.len() + count;
    for byte in packed {
        let left = (end - out.len()).min(4);
        let four = [byte & 3, byte >> 2 & 3, byte >> 4 & 3, byte >> 6];
        out.extend_from_slice(&four[..left]);
    }
}
