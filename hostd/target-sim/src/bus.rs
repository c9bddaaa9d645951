//! The chip around a core, as the core sees it: memory, peripherals, interrupt lines and the passing of
//! time.

use thiserror::Error;

/// "Never", for times counted in cycles.
pub const NEVER: u64 = u64::MAX;

/// How much data one access moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// 8 bits.
    Byte,
    /// 16 bits.
    Half,
    /// 32 bits.
    Word,
}

impl Width {
    /// 1, 2 or 4.
    #[must_use]
    pub const fn bytes(self) -> u32 {
        match self {
            Self::Byte => 1,
            Self::Half => 2,
            Self::Word => 4,
        }
    }

    /// Whether an access of this width may start at `address`.
    #[must_use]
    pub(crate) const fn is_aligned(self, address: u32) -> bool {
        address & (self.bytes() - 1) == 0
    }
}

/// The bus answered an access with an error: nothing is there, or this access is not allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("failed to access address {address:#010x}: bus error")]
pub struct BusFault {
    /// Address of the access.
    pub address: u32,
}

/// The chip around a core. `now` is always the core's cycle count and never decreases.
///
/// Addresses are already aligned to the width of the access. Values are right-aligned, whatever the
/// address.
pub trait Bus {
    /// Fetches half of an instruction word.
    ///
    /// # Errors
    /// If no code can be there.
    fn fetch(&mut self, now: u64, address: u32) -> Result<u16, BusFault>;

    /// Reads, with all side effects of a read.
    ///
    /// # Errors
    /// If the bus answers with an error.
    fn load(&mut self, now: u64, address: u32, width: Width) -> Result<u32, BusFault>;

    /// Writes.
    ///
    /// # Errors
    /// If the bus answers with an error.
    fn store(&mut self, now: u64, address: u32, width: Width, value: u32) -> Result<(), BusFault>;

    /// Lets the peripherals do everything that they do by themselves up to `now`.
    fn advance(&mut self, now: u64);

    /// The cycle at which a peripheral will next do something by itself: later than the last `advance`, or
    /// [`NEVER`].
    fn next_event(&self) -> u64;

    /// Levels of the interrupt lines, bit n for interrupt n.
    fn interrupts(&self) -> u128;

    /// The cycle until which code at `address` cannot be fetched, because its memory is busy.
    fn stalled_until(&self, address: u32) -> u64;

    /// Whether the chip has output that the outside must handle before the core goes on.
    fn has_output(&self) -> bool;
}
