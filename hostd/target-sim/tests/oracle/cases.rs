//! A case: instructions, and the registers before them. An outcome: the registers after them.

/// Where the instructions lie, and the memory that they may touch.
pub(crate) const CODE: u32 = 0x2000_0000;
pub(crate) const CODE_BYTES: u32 = 8;
pub(crate) const DATA: u32 = 0x2000_1000;
pub(crate) const DATA_WORDS: usize = 256;
/// The conditions, Q and GE.
pub(crate) const FLAGS: u32 = 0xf80f_0000;
pub(crate) const CORE_REGISTERS: usize = 14;
pub(crate) const FLOATS: usize = 16;

/// A small generator of random numbers (xorshift64).
#[derive(Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    pub(crate) fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        let [_, _, a, b, c, d, ..] = self.0.to_le_bytes();
        u32::from_le_bytes([a, b, c, d])
    }

    pub(crate) fn below(&mut self, limit: u32) -> u32 {
        self.next() % limit
    }

    pub(crate) fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(u32::try_from(list.len()).unwrap()) as usize]
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Case {
    /// Half words, padded with NOP.
    pub(crate) code: [u16; 4],
    /// R0 to R12 and LR.
    pub(crate) registers: [u32; CORE_REGISTERS],
    pub(crate) flags: u32,
    pub(crate) status: u32,
    pub(crate) floats: [u32; FLOATS],
}

impl Case {
    pub(crate) fn words(&self) -> Vec<u32> {
        let [a, b, c, d] = self.code.map(u32::from);
        let mut words = vec![a | b << 16, c | d << 16];
        words.extend(self.registers);
        words.extend([self.flags, self.status]);
        words.extend(self.floats);
        words
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) registers: [u32; CORE_REGISTERS],
    pub(crate) flags: u32,
    pub(crate) status: u32,
    pub(crate) floats: [u32; FLOATS],
    /// Of the data.
    pub(crate) data: u32,
}

impl Outcome {
    /// FNV-1a of all words.
    pub(crate) fn checksum(&self) -> u32 {
        let rest = [self.flags, self.status, self.data];
        let words = self.registers.iter().chain(&rest).chain(&self.floats);
        let bytes = words.flat_map(|word| word.to_le_bytes());
        bytes.fold(0x811c_9dc5, |sum, byte| {
            (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193)
        })
    }
}

/// The data before each case.
pub(crate) fn data() -> [u32; DATA_WORDS] {
    const STEP: u32 = 0x9e37_79b9;
    let mut word = STEP;
    std::array::from_fn(|_| {
        let this = word;
        word = word.wrapping_add(STEP);
        word ^= word.rotate_right(13);
        this
    })
}

/// The checksum of the data after a case.
pub(crate) fn data_checksum(words: impl Iterator<Item = u32>) -> u32 {
    words.fold(0, |sum: u32, word| word ^ sum.rotate_right(31))
}
