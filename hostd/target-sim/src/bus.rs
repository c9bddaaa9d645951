//! What a core sees of the chip around it: memory, peripherals, interrupt lines and the passing of time.

use thiserror::Error;

/// "Never" for instants counted in cycles.
pub const NEVER: u64 = u64::MAX;

/// How much one access moves.
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
    pub const fn is_aligned(self, address: u32) -> bool {
        address & (self.bytes() - 1) == 0
    }
}

/// The bus answered an access with an error: nothing is there, or it may not be touched so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("failed to access address {address:#010x}: bus error")]
pub struct BusFault {
    /// Where the access went.
    pub address: u32,
}

/// The chip around a core. `now` is always the core's cycle count and never goes back.
///
/// Addresses are aligned to the width of the access when they come here. Values are right-aligned,
/// whatever the address.
pub trait Bus {
    /// Fetches half an instruction word.
    ///
    /// # Errors
    /// When no code can be there.
    fn fetch(&mut self, now: u64, address: u32) -> Result<u16, BusFault>;

    /// Reads, with all effects that reading has.
    ///
    /// # Errors
    /// When the bus answers with an error.
    fn load(&mut self, now: u64, address: u32, width: Width) -> Result<u32, BusFault>;

    /// Writes.
    ///
    /// # Errors
    /// When the bus answers with an error.
    fn store(&mut self, now: u64, address: u32, width: Width, value: u32) -> Result<(), BusFault>;

    /// Lets the peripherals do what they do by themselves up to `now`.
    fn advance(&mut self, now: u64);

    /// When a peripheral will next do something by itself: later than the last `advance`, or [`NEVER`].
    fn next_event(&self) -> u64;

    /// Levels of the interrupt lines, bit n for interrupt n.
    fn interrupts(&self) -> u32;

    /// Until when code at `address` cannot be fetched, for a memory that is busy.
    fn stalled_until(&self, address: u32) -> u64;

    /// Whether something left the chip that the outside must answer before the core goes on.
    fn has_output(&self) -> bool;
}
