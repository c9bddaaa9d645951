//! What the tests of all cores need: a bus with nothing but memory, and random numbers.

use crate::bus::{Bus, BusFault, NEVER, Width};

/// Where the memory is.
pub(crate) const RAM: u32 = 0x2000_0000;
const RAM_BYTES: usize = 0x1_0000;

/// Memory at 0 (a vector table) and at [`RAM`], and interrupt lines that a test sets.
#[derive(Debug)]
pub(crate) struct Memory {
    pub(crate) table: Vec<u8>,
    pub(crate) ram: Vec<u8>,
    pub(crate) lines: u32,
    /// The cycle at which line 0 goes high.
    pub(crate) line_at: u64,
}

impl Memory {
    pub(crate) fn new() -> Self {
        Self {
            table: vec![0; 0x100],
            ram: vec![0; RAM_BYTES],
            lines: 0,
            line_at: NEVER,
        }
    }

    fn bytes(&mut self, address: u32, width: Width) -> Result<&mut [u8], BusFault> {
        let (memory, offset) = if address >= RAM {
            (&mut self.ram, address - RAM)
        } else {
            (&mut self.table, address)
        };
        let first = offset as usize;
        memory
            .get_mut(first..first + width.bytes() as usize)
            .ok_or(BusFault { address })
    }
}

impl Bus for Memory {
    fn fetch(&mut self, now: u64, address: u32) -> Result<u16, BusFault> {
        self.load(now, address, Width::Half)
            .map(crate::word::low_half)
    }

    fn load(&mut self, _now: u64, address: u32, width: Width) -> Result<u32, BusFault> {
        let mut word = [0; 4];
        let bytes = self.bytes(address, width)?;
        word[..bytes.len()].copy_from_slice(bytes);
        Ok(u32::from_le_bytes(word))
    }

    fn store(&mut self, _: u64, address: u32, width: Width, value: u32) -> Result<(), BusFault> {
        let bytes = self.bytes(address, width)?;
        let count = bytes.len();
        bytes.copy_from_slice(&value.to_le_bytes()[..count]);
        Ok(())
    }

    fn advance(&mut self, now: u64) {
        if self.line_at <= now {
            self.line_at = NEVER;
            self.lines |= 1;
        }
    }

    fn next_event(&self) -> u64 {
        self.line_at
    }

    fn interrupts(&self) -> u128 {
        u128::from(self.lines)
    }

    fn stalled_until(&self, _address: u32) -> u64 {
        0
    }

    fn has_output(&self) -> bool {
        false
    }
}

/// A small generator of random numbers (xorshift64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        crate::word::low_word(self.0 >> 16)
    }

    pub(crate) fn below(&mut self, limit: u32) -> u32 {
        self.next() % limit
    }
}
