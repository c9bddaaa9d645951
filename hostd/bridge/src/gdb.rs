//! GDB's remote serial protocol for one core: what GDB asks of a [`Debugger`].

mod document;
mod packets;
mod registers;
mod serve;
mod stub;
mod target;

#[cfg(test)]
mod tests;

use std::ops::Range;

pub use packets::refusal;
pub use registers::{REGISTERS, Register};
pub use serve::{Ended, ServeError, Wire, serve};

/// Why a debugger did not do something.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DebugError {
    /// The target refuses; the session goes on.
    #[error("{0}")]
    Refused(String),
    /// The target, the probe or the way to it is lost, or somebody ended the session.
    #[error("{0}")]
    Lost(String),
}

/// A part of the address space that is programmed and not written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flash {
    /// Its addresses.
    pub range: Range<u64>,
    /// Bytes that are erased together.
    pub sector_bytes: u64,
}

/// What a watchpoint waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// A read.
    Read,
    /// A write.
    Write,
    /// Either.
    Any,
}

/// A place in memory at whose use the core halts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Watchpoint {
    /// Its first byte.
    pub address: u32,
    /// Its size.
    pub bytes: u32,
    /// Which use.
    pub access: Access,
}

/// A core that can be looked at while it is halted. Calls block.
pub trait Debugger {
    /// The flash of the chip, in ascending order and without overlaps.
    fn flash(&self) -> &[Flash];

    /// Whether it has a floating point unit, whose registers are 0x21 (status) and 0x40 to 0x5F (s0 to s31).
    fn has_fpu(&self) -> bool;

    /// Halts the core.
    ///
    /// # Errors
    /// [`DebugError`], as all of these.
    fn halt(&mut self) -> Result<(), DebugError>;

    /// Lets it run, past a breakpoint where it stands.
    ///
    /// # Errors
    /// [`DebugError`].
    fn run(&mut self) -> Result<(), DebugError>;

    /// Executes one instruction.
    ///
    /// # Errors
    /// [`DebugError`].
    fn step(&mut self) -> Result<(), DebugError>;

    /// Whether it is halted.
    ///
    /// # Errors
    /// [`DebugError`].
    fn is_halted(&mut self) -> Result<bool, DebugError>;

    /// Resets the core, and halts it before its first instruction if `halt`.
    ///
    /// # Errors
    /// [`DebugError`].
    fn reset(&mut self, halt: bool) -> Result<(), DebugError>;

    /// # Errors
    /// [`DebugError`].
    fn register(&mut self, register: Register) -> Result<u32, DebugError>;

    /// # Errors
    /// [`DebugError`].
    fn set_register(&mut self, register: Register, value: u32) -> Result<(), DebugError>;

    /// # Errors
    /// [`DebugError`].
    fn read(&mut self, address: u32, into: &mut [u8]) -> Result<(), DebugError>;

    /// # Errors
    /// [`DebugError`].
    fn write(&mut self, address: u32, bytes: &[u8]) -> Result<(), DebugError>;

    /// # Errors
    /// [`DebugError::Refused`] when the core has no comparator left.
    fn set_breakpoint(&mut self, address: u32) -> Result<(), DebugError>;

    /// # Errors
    /// [`DebugError`].
    fn clear_breakpoint(&mut self, address: u32) -> Result<(), DebugError>;

    /// How many watchpoints the core can have at once. With none, GDB steps in their place.
    fn watchpoints(&self) -> usize;

    /// Halts the core after this use of memory.
    ///
    /// # Errors
    /// [`DebugError::Refused`] when the core has no comparator left, or none for this size and place.
    fn set_watchpoint(&mut self, watchpoint: Watchpoint) -> Result<(), DebugError>;

    /// # Errors
    /// [`DebugError`].
    fn clear_watchpoint(&mut self, watchpoint: Watchpoint) -> Result<(), DebugError>;

    /// The first watchpoint whose place the core has used since this was asked. It forgets the others.
    ///
    /// # Errors
    /// [`DebugError`].
    fn take_hit(&mut self) -> Result<Option<Watchpoint>, DebugError>;

    /// Erases what these bytes need, programs and verifies them. The core is halted afterwards, as after a reset.
    ///
    /// # Errors
    /// [`DebugError`].
    fn program(&mut self, segments: &[(u32, Vec<u8>)]) -> Result<(), DebugError>;
}
