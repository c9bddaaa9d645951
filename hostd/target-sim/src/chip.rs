//! What all simulated chips have in common: the parts there are, pins, the clock, and what a bench and a
//! debugger can do with a chip beside executing its program.

mod clock;
mod gpio;
mod part;
mod pin;
mod ports;
mod usart;

pub use part::{Currents, Family, Part, STM32F030R8, STM32F030RC, STM32F446RE};
pub use pin::{Drive, Level, Pin, PinChange, Port};

pub(crate) use clock::Clock;
pub(crate) use gpio::PortReset;
pub(crate) use ports::{Ports, Route};
pub(crate) use usart::{LineEvent, Usart, offset};

use crate::bus::{Bus, Width};

/// Address of the main flash.
pub const FLASH_BASE: u32 = 0x0800_0000;
/// Address of the SRAM.
pub const SRAM_BASE: u32 = 0x2000_0000;

/// A word that a serial port started to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentWord {
    /// When its start bit began, in nanoseconds since the target was made.
    pub at_ns: u64,
    /// Duration of a bit, in nanoseconds.
    pub bit_ns: u64,
    /// The data bits.
    pub value: u16,
}

/// How long flash operations take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlashTimes {
    /// Programming the unit of programming, in nanoseconds.
    pub program_ns: u64,
    /// Erasing the smallest unit of erasing, in nanoseconds.
    pub erase_ns: u64,
}

/// A chip, as a bench sees it.
pub trait Chip {
    /// The part that is simulated.
    fn part(&self) -> &Part;

    /// The contents of the flash, to read or change without a debugger.
    fn flash_mut(&mut self) -> &mut [u8];

    /// The contents of the flash.
    fn flash(&self) -> &[u8];

    /// Sets how long flash operations take, for benches that cannot wait for realistic times.
    fn set_flash_times(&mut self, times: FlashTimes);

    /// Puts the part under read protection: a debugger can no longer read its flash. Setting the protection
    /// byte back to "unprotected" erases the flash.
    fn protect_from_reading(&mut self);

    /// Whether the flash is under read protection.
    fn is_read_protected(&self) -> bool;

    /// Makes the half word at this offset of the flash stay erased whatever is programmed. The controller
    /// does not notice, just like a real one; only reading back does.
    fn wear_out(&mut self, offset: u32);

    /// Level at a pin as the chip reads it.
    fn reads(&self, pin: Pin) -> bool;
}

/// What reset a chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResetCause {
    OptionLoader,
    Pin,
    Software,
    Power,
}

/// A chip, as the target around it sees it.
pub(crate) trait Silicon: Bus + Chip {
    /// Whether read protection hides this address from a debugger.
    fn hides(&self, address: u32) -> bool;

    /// SRAM loses its contents without power.
    fn scramble_sram(&mut self);

    /// A system reset of everything but the core.
    fn reset(&mut self, now: u64, cause: ResetCause);

    /// Floats all pins when the power goes off.
    fn release_pins(&mut self, now: u64);

    fn clock(&self) -> &Clock;

    fn clock_mut(&mut self) -> &mut Clock;

    /// The next pin change that the outside has not received yet.
    fn take_change(&mut self) -> Option<PinChange>;

    fn take_sent(&mut self) -> Vec<SentWord>;

    /// Whether software requested to load the option bytes, which causes a reset.
    fn takes_option_launch(&mut self) -> bool;

    /// The cycle until which a debugger's access keeps the bus busy.
    fn bus_busy_until(&self) -> u64;

    /// The outside has changed what it drives at a pin.
    fn set_outside(&mut self, now: u64, pin: Pin, level: Level);
}

/// Fills memory with noise, so that software does not rely on zeros; always the same noise.
pub(crate) fn scramble(memory: &mut [u8]) {
    let mut state = 0x9e37_79b9u32;
    for byte in memory {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        *byte = crate::word::low_byte(state);
    }
}

/// Reads little-endian data that is entirely within the memory.
#[inline]
pub(crate) fn read_bytes(memory: &[u8], offset: usize, width: Width) -> Option<u32> {
    let rest = memory.get(offset..)?;
    match width {
        Width::Byte => rest.first().map(|byte| u32::from(*byte)),
        Width::Half => rest
            .first_chunk()
            .map(|half| u32::from(u16::from_le_bytes(*half))),
        Width::Word => rest.first_chunk().map(|word| u32::from_le_bytes(*word)),
    }
}

/// Returns false if the access is not entirely within the memory.
#[inline]
pub(crate) fn write_bytes(memory: &mut [u8], offset: usize, width: Width, value: u32) -> bool {
    let count = width.bytes() as usize;
    let bytes = memory.get_mut(offset..offset.wrapping_add(count));
    bytes.is_some_and(|bytes| {
        bytes.copy_from_slice(&value.to_le_bytes()[..count]);
        true
    })
}

/// Extracts the part of a word that a narrow access addresses, right-aligned.
pub(crate) fn narrowed(word: u32, address: u32, width: Width) -> u32 {
    let shifted = word >> ((address & 3) * 8);
    match width {
        Width::Byte => shifted & 0xff,
        Width::Half => shifted & 0xffff,
        Width::Word => shifted,
    }
}
