//! Huffman codes of a block.

use super::Damaged;
use super::bits::Bits;

/// Bits of the longest code.
const BITS_MAX: usize = 15;

/// Bits of the longest code that is found with one look.
const FAST_BITS: u32 = 10;

/// Symbols of literals and lengths, and of distances; the last two of each mean nothing.
const LITERALS: usize = 288;
const DISTANCES: usize = 32;

/// Most of each that a block can have.
const LITERALS_MAX: usize = 286;
const DISTANCES_MAX: usize = 30;

/// The order in which lengths of codes of lengths are written.
const ORDER: [usize; 19] = [
    16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15,
];

/// Bits of each code of distances in a block with the fixed codes.
pub(super) const FIXED_DISTANCES: [u8; DISTANCES_MAX] = [5; DISTANCES_MAX];

/// Bits of each code of literals and lengths in such a block.
pub(super) fn fixed_literals() -> [u8; LITERALS] {
    let mut lengths = [8; LITERALS];
    lengths[144..256].fill(9);
    lengths[256..280].fill(7);
    lengths
}

/// Codes of a kind of symbols.
pub(super) struct Codes {
    /// By the next bits: `symbol << 4 | bits`, or 0 where the code is longer.
    fast: Box<[u16; 1 << FAST_BITS]>,
    /// How many codes have so many bits.
    counts: [u16; BITS_MAX + 1],
    /// In the order of their codes.
    symbols: [u16; LITERALS],
}

impl Default for Codes {
    fn default() -> Self {
        Self {
            fast: Box::new([0; 1 << FAST_BITS]),
            counts: [0; BITS_MAX + 1],
            symbols: [0; LITERALS],
        }
    }
}

impl Codes {
    /// From the bits of each symbol's code, 0 being none. Codes may be left over, which then are damage where they are read.
    pub(super) fn build(&mut self, lengths: &[u8]) -> Result<(), Damaged> {
        self.counts = [0; BITS_MAX + 1];
        for length in lengths {
            self.counts[usize::from(*length)] += 1;
        }
        self.counts[0] = 0;
        let (mut left, mut first) = (1_i32, 0_u16);
        let mut places = [0; BITS_MAX + 2];
        let mut codes = [0_u16; BITS_MAX + 1];
        for bits in 1..=BITS_MAX {
            left = left * 2 - i32::from(self.counts[bits]);
            if left < 0 {
                return Err(Damaged);
            }
            places[bits + 1] = places[bits] + usize::from(self.counts[bits]);
            codes[bits] = first;
            first = (first + self.counts[bits]) << 1;
        }
        self.fast.fill(0);
        for (symbol, length) in (0_u16..).zip(lengths) {
            let bits = usize::from(*length);
            if bits == 0 {
                continue;
            }
            self.symbols[places[bits]] = symbol;
            places[bits] += 1;
            let code = codes[bits];
            codes[bits] += 1;
            if u32::from(*length) <= FAST_BITS {
                let reversed = code.reverse_bits() >> (16 - bits);
                let entry = symbol << 4 | u16::from(*length);
                let places = self.fast.iter_mut().skip(reversed.into());
                places.step_by(1 << bits).for_each(|place| *place = entry);
            }
        }
        Ok(())
    }

    /// The next symbol.
    #[inline(always)]
    pub(super) fn read(&self, input: &mut Bits<'_>) -> Result<u16, Damaged> {
        let [low, high, ..] = input.peek().to_le_bytes();
        let next = u16::from_le_bytes([low, high]);
        let entry = self.fast[usize::from(next) & ((1 << FAST_BITS) - 1)];
        if entry == 0 {
            return self.read_long(next, input);
        }
        input.skip(u32::from(entry & 15))?;
        Ok(entry >> 4)
    }

    /// Bit by bit.
    #[cold]
    fn read_long(&self, next: u16, input: &mut Bits<'_>) -> Result<u16, Damaged> {
        let (mut code, mut first, mut place) = (0_u32, 0_u32, 0_u32);
        for bits in 1..=BITS_MAX {
            code |= u32::from(next >> (bits - 1) & 1);
            let count = u32::from(self.counts[bits]);
            if code < first + count {
                input.skip(u32::try_from(bits).map_err(|_| Damaged)?)?;
                let place = place + (code - first);
                return Ok(self.symbols[place as usize]);
            }
            place += count;
            first = (first + count) << 1;
            code <<= 1;
        }
        Err(Damaged)
    }
}

/// Bits of the codes of a block that has its own.
pub(super) struct Lengths {
    all: [u8; LITERALS + DISTANCES],
    literals: usize,
    distances: usize,
}

impl Lengths {
    pub(super) fn read(input: &mut Bits<'_>) -> Result<Self, Damaged> {
        input.refill();
        let mut lengths = Self {
            all: [0; LITERALS + DISTANCES],
            literals: input.take(5)? + 257,
            distances: input.take(5)? + 1,
        };
        if lengths.literals > LITERALS_MAX || lengths.distances > DISTANCES_MAX {
            return Err(Damaged);
        }
        let known = input.take(4)? + 4;
        let mut of_lengths = [0; ORDER.len()];
        for place in &ORDER[..known] {
            input.refill();
            of_lengths[*place] = input.take(3)?.to_le_bytes()[0];
        }
        let mut codes = Codes::default();
        codes.build(&of_lengths)?;
        lengths.fill(&codes, input)?;
        // A block without an end is none.
        if lengths.all[usize::from(super::END)] == 0 {
            return Err(Damaged);
        }
        Ok(lengths)
    }

    fn fill(&mut self, codes: &Codes, input: &mut Bits<'_>) -> Result<(), Damaged> {
        let total = self.literals + self.distances;
        let mut at = 0;
        while at < total {
            input.refill();
            let symbol = codes.read(input)?;
            let (length, times) = match symbol {
                0..16 => (symbol.to_le_bytes()[0], 1),
                16 => {
                    let before = at.checked_sub(1).ok_or(Damaged)?;
                    (self.all[before], 3 + input.take(2)?)
                }
                17 => (0, 3 + input.take(3)?),
                _ => (0, 11 + input.take(7)?),
            };
            let end = at + times;
            if end > total {
                return Err(Damaged);
            }
            self.all[at..end].fill(length);
            at = end;
        }
        Ok(())
    }

    pub(super) fn literals(&self) -> &[u8] {
        &self.all[..self.literals]
    }

    pub(super) fn distances(&self) -> &[u8] {
        &self.all[self.literals..self.literals + self.distances]
    }
}
