//! Edges of logic samples. Most samples are as the one before, so what matters is how fast that is seen: 64 bytes at a
//! time, without a branch for each.

use crate::wiring::Wiring;

/// Bytes that are compared at once.
const CHUNK_BYTES: usize = 64;

/// Bytes in which a change is located at once.
const LANE_BYTES: usize = 8;

/// Turns raw samples into edges, piece by piece.
#[derive(Debug)]
pub(crate) struct Edges {
    wiring: Wiring,
    /// The sample before those that come next; empty at first.
    last: Vec<u8>,
    /// The bits that matter, in each of the samples of 8 bytes.
    mask: u64,
    /// Edges for which there is room at first.
    likely: usize,
}

impl Edges {
    pub(crate) fn new(wiring: Wiring) -> Self {
        let mask = match wiring.unit() {
            1 => wiring.mask() * 0x0101_0101_0101_0101,
            2 => wiring.mask() * 0x0001_0001_0001_0001,
            _ => wiring.mask(),
        };
        Self {
            last: Vec::with_capacity(wiring.unit()),
            wiring,
            mask,
            likely: 0,
        }
    }

    /// The edges of whole samples, the first of which has the index `start`: the first sample ever, and then each that
    /// differs from the one before.
    pub(crate) fn of(&mut self, raw: &[u8], start: u64) -> Vec<(u64, u16)> {
        let unit = self.wiring.unit();
        let Some(first) = raw.get(..unit) else {
            return Vec::new();
        };
        // What was last is likely to be what comes next.
        let mut edges = Vec::with_capacity(self.likely.min(raw.len() / unit));
        let has_changed = match self.last.is_empty() {
            true => true,
            false => (sample(&self.last) ^ sample(first)) & self.wiring.mask() != 0,
        };
        if has_changed {
            edges.push((start, self.wiring.word(sample(first))));
        }
        match unit {
            1 | 2 => self.changes(raw, start, &mut edges),
            _ => self.each(raw, unit, start, &mut edges),
        }
        self.last.clear();
        self.last.extend_from_slice(&raw[raw.len() - unit..]);
        self.likely = edges.len() + edges.len() / 4;
        edges
    }

    /// Changes within samples of 1 or 2 bytes, which compares each byte with that of the sample before.
    fn changes(&self, raw: &[u8], start: u64, edges: &mut Vec<(u64, u16)>) {
        let unit = self.wiring.unit();
        let (old, new) = (&raw[..raw.len() - unit], &raw[unit..]);
        let (old_chunks, old_rest) = old.as_chunks::<CHUNK_BYTES>();
        let (new_chunks, new_rest) = new.as_chunks::<CHUNK_BYTES>();
        for (number, (old, new)) in old_chunks.iter().zip(new_chunks).enumerate() {
            let (old, new) = (lanes(old), lanes(new));
            let differ = (old.iter().zip(&new)).fold(0, |differ, (old, new)| differ | (old ^ new));
            if differ & self.mask == 0 {
                continue;
            }
            for (lane, (old, new)) in old.iter().zip(&new).enumerate() {
                let at = number * CHUNK_BYTES + lane * LANE_BYTES;
                self.locate((old ^ new) & self.mask, *new, at, start, edges);
            }
        }
        let done = old_chunks.len() * CHUNK_BYTES;
        let rest = old_rest.chunks(unit).zip(new_rest.chunks(unit));
        for (number, (old, new)) in rest.enumerate() {
            if (sample(old) ^ sample(new)) & self.wiring.mask() != 0 {
                let index = done / unit + number + 1;
                edges.push((start + index as u64, self.wiring.word(sample(new))));
            }
        }
    }

    /// The samples of a lane that differ, by the bits that do. The lane begins `at` bytes after the second sample.
    fn locate(
        &self,
        mut differ: u64,
        new: u64,
        at: usize,
        start: u64,
        edges: &mut Vec<(u64, u16)>,
    ) {
        let unit = self.wiring.unit();
        let bits = 8 * unit;
        while differ != 0 {
            let place = differ.trailing_zeros() as usize / bits;
            let index = at / unit + place + 1;
            let word = self.wiring.word(new >> (place * bits));
            edges.push((start + index as u64, word));
            // Nothing is left of a lane after its last sample.
            let passed = u32::try_from((place + 1) * bits).unwrap_or(u64::BITS);
            differ &= u64::MAX.checked_shl(passed).unwrap_or(0);
        }
    }

    /// Changes within samples of any size.
    fn each(&self, raw: &[u8], unit: usize, start: u64, edges: &mut Vec<(u64, u16)>) {
        let samples = raw.chunks_exact(unit);
        let mut before = 0;
        for (index, bytes) in samples.enumerate() {
            let now = sample(bytes) & self.mask;
            if index > 0 && now != before {
                edges.push((start + index as u64, self.wiring.word(sample(bytes))));
            }
            before = now;
        }
    }
}

fn lanes(chunk: &[u8; CHUNK_BYTES]) -> [u64; CHUNK_BYTES / LANE_BYTES] {
    let (lanes, _) = chunk.as_chunks::<LANE_BYTES>();
    std::array::from_fn(|lane| u64::from_le_bytes(lanes[lane]))
}

/// The bits of a sample of at most 8 bytes.
fn sample(bytes: &[u8]) -> u64 {
    let bytes = bytes.iter().rev();
    bytes.fold(0, |bits, byte| bits << 8 | u64::from(*byte))
}

/// The edges as they are defined, one sample after the other: what the fast way must agree with.
pub(crate) fn naive(unit: usize, bits: &[usize], raw: &[u8]) -> Vec<(u64, u16)> {
    let Some(wiring) = Wiring::new(unit, bits) else {
        return Vec::new();
    };
    let mut edges: Vec<(u64, u16)> = Vec::new();
    for (index, bytes) in (0..).zip(raw.chunks_exact(unit)) {
        let word = wiring.word(sample(bytes));
        if edges.last().is_none_or(|(_, last)| *last != word) {
            edges.push((index, word));
        }
    }
    edges
}

/// Takes the edges of a piece.
pub type Each<'a> = dyn FnMut(&[(u64, u16)]) + 'a;

/// The edges in the fast way, of samples that come in pieces of so many; `each` gets those of a piece.
#[doc(hidden)]
pub fn fast(unit: usize, bits: &[usize], raw: &[u8], piece: usize, each: &mut Each<'_>) {
    let Some(wiring) = Wiring::new(unit, bits) else {
        return;
    };
    let (mut turning, mut start) = (Edges::new(wiring), 0);
    let whole = raw.len() / unit * unit;
    for piece in raw[..whole].chunks(piece.max(1) * unit) {
        each(&turning.of(piece, start));
        start += (piece.len() / unit) as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(unit: usize, bits: &[usize], raw: &[u8], piece: usize) -> Vec<(u64, u16)> {
        let mut edges = Vec::new();
        fast(unit, bits, raw, piece, &mut |more| edges.extend(more));
        edges
    }

    fn agree(unit: usize, bits: &[usize], raw: &[u8], piece: usize) {
        let (expected, found) = (naive(unit, bits, raw), all(unit, bits, raw, piece));
        assert_eq!(found, expected, "unit {unit}, bits {bits:?}, piece {piece}");
    }

    #[test]
    fn a_change_is_found_wherever_it_lies() {
        for unit in [1, 2, 3] {
            for length in [1, 2, 63, 64, 65, 66, 129, 200] {
                for at in 0..length {
                    let mut raw = vec![0xA0; length * unit];
                    raw[at * unit..].fill(0xA1);
                    agree(unit, &[0, 5, 7], &raw, 1_000);
                }
            }
        }
    }

    #[test]
    fn any_samples_in_any_pieces_agree_with_the_definition() {
        let mut random = fastrand::Rng::with_seed(13);
        for _ in 0..3_000 {
            let unit = random.usize(1..=8);
            let mut bits: Vec<usize> = (0..8 * unit).collect();
            random.shuffle(&mut bits);
            bits.truncate(random.usize(..=14));
            // From all changes to hardly any.
            let still = random.u32(..200);
            let mut raw = Vec::new();
            let mut last = vec![0; unit];
            for _ in 0..random.usize(..600) {
                if random.u32(..200) >= still {
                    let at = random.usize(..unit);
                    last[at] = random.u8(..);
                }
                raw.extend(&last);
            }
            agree(unit, &bits, &raw, random.usize(1..300));
        }
    }

    #[test]
    fn channels_that_nobody_wired_make_no_edges() {
        let raw: Vec<u8> = (0..=255).collect();
        assert_eq!(all(1, &[7], &raw, 256), [(0, 0), (128, 1)]);
        assert_eq!(all(1, &[], &raw, 256), [(0, 0)]);
    }
}
