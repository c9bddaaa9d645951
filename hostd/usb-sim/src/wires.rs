//! The wires from a simulated debug probe to a target, of which this crate knows nothing else.

use std::pin::Pin;

/// What comes later.
pub type Later<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The wires of SWD, and the reset line.
pub trait Wires: Send + 'static {
    /// Clocks bits: those that the probe drives, and none where it listens. The level of the line at each.
    fn clock(&mut self, bits: Vec<Option<bool>>) -> Later<'_, Vec<bool>>;

    /// Pulls the reset line low, or lets go of it.
    fn set_reset(&mut self, is_low: bool) -> Later<'_, ()>;
}

/// How a target refuses an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// It is busy.
    Wait,
    /// An error is to be cleared first.
    Fault,
    /// It says nothing.
    Silence,
}

/// A target behind a probe that makes accesses by itself.
pub trait Registers: Send + 'static {
    /// Resets the line, identifies the target and gives its debug port power. Whether one answers.
    fn enter(&mut self) -> Later<'_, bool>;

    /// Reads a register: of an access port by its number, or of the debug port; its bank is in the address.
    fn read(&mut self, port: Option<u8>, address: u8) -> Later<'_, Result<u32, Refusal>>;

    /// Writes one.
    fn write(&mut self, port: Option<u8>, address: u8, data: u32)
    -> Later<'_, Result<(), Refusal>>;

    /// Pulls the reset line low, or lets go of it.
    fn set_reset(&mut self, is_low: bool) -> Later<'_, ()>;
}
