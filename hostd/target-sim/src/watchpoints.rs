//! Comparators of the data watchpoint unit (DWT) of ARMv6-M and ARMv7-M cores: what they compare, and their registers.

use crate::bus::Width;

/// Registers of one comparator: value, mask, function, and a word that is not used.
const COMPARATOR_BYTES: u32 = 16;

/// DWT_FUNCTION: what is compared. Instruction addresses, reads, writes, reads and writes.
const FUNCTION: u32 = 15;
const FETCH: &[u32] = &[4];
const READ: &[u32] = &[5, 7];
const WRITE: &[u32] = &[6, 7];

/// DWT_FUNCTION: a comparison has matched since this was read.
const MATCHED: u32 = 1 << 24;

/// DWT_MASK: how many low bits of an address are ignored.
const MASK: u32 = 31;

/// How a core uses memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    Read,
    Write,
}

#[derive(Clone, Copy, Debug, Default)]
struct Comparator {
    value: u32,
    mask: u32,
    function: u32,
}

impl Comparator {
    /// The bits of an address that count.
    fn significant(&self) -> u32 {
        u32::MAX.checked_shl(self.mask).unwrap_or(0)
    }
}

/// So many comparators, with the bits of DWT_FUNCTION that exist.
#[derive(Debug)]
pub(crate) struct Watchpoints<const COUNT: usize, const FUNCTION_BITS: u32> {
    comparators: [Comparator; COUNT],
    has_match: bool,
}

impl<const COUNT: usize, const FUNCTION_BITS: u32> Default for Watchpoints<COUNT, FUNCTION_BITS> {
    fn default() -> Self {
        Self {
            comparators: [Comparator::default(); COUNT],
            has_match: false,
        }
    }
}

impl<const COUNT: usize, const FUNCTION_BITS: u32> Watchpoints<COUNT, FUNCTION_BITS> {
    /// Whether anything is compared.
    pub(crate) fn is_in_use(&self) -> bool {
        let in_use = |comparator: &Comparator| matches!(comparator.function & FUNCTION, 4..=7);
        self.comparators.iter().any(in_use)
    }

    /// Whether a comparison has matched since this was asked.
    pub(crate) fn takes_match(&mut self) -> bool {
        std::mem::take(&mut self.has_match)
    }

    fn compare(&mut self, functions: &[u32], matches: impl Fn(&Comparator) -> bool) -> bool {
        let mut found = false;
        for comparator in &mut self.comparators {
            if functions.contains(&(comparator.function & FUNCTION)) && matches(comparator) {
                comparator.function |= MATCHED;
                found = true;
            }
        }
        self.has_match |= found;
        found
    }

    /// Compares the address of an instruction.
    pub(crate) fn matches_fetch(&mut self, address: u32) -> bool {
        self.compare(FETCH, |comparator| {
            (address ^ comparator.value) & comparator.significant() & !1 == 0
        })
    }

    /// Compares the address of data.
    pub(crate) fn matches_access(&mut self, address: u32, width: Width, access: Use) -> bool {
        let functions = match access {
            Use::Read => READ,
            Use::Write => WRITE,
        };
        let last = address.wrapping_add(width.bytes() - 1);
        self.compare(functions, |comparator| {
            let significant = comparator.significant();
            let first = comparator.value & significant;
            first <= last && address <= (first | !significant)
        })
    }

    /// Reads a register, by its offset from those of the first comparator.
    pub(crate) fn read(&mut self, offset: u32) -> u32 {
        let Some(comparator) = self.comparator(offset) else {
            return 0;
        };
        match offset % COMPARATOR_BYTES {
            0 => comparator.value,
            4 => comparator.mask,
            8 => {
                let function = comparator.function;
                comparator.function &= !MATCHED;
                function
            }
            _ => 0,
        }
    }

    /// Writes a register, by its offset from those of the first comparator.
    pub(crate) fn write(&mut self, offset: u32, value: u32) {
        let Some(comparator) = self.comparator(offset) else {
            return;
        };
        match offset % COMPARATOR_BYTES {
            0 => comparator.value = value,
            4 => comparator.mask = value & MASK,
            8 => comparator.function = value & FUNCTION_BITS,
            _ => {}
        }
    }

    fn comparator(&mut self, offset: u32) -> Option<&mut Comparator> {
        self.comparators
            .get_mut((offset / COMPARATOR_BYTES) as usize)
    }
}
