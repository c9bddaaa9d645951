//! The chip around the core: an STM32F030 with flash, SRAM, clock control, GPIO ports and USART1.
//!
//! Peripherals that are not modelled read as zero and ignore writes, like those whose clock is off.
//! Addresses where nothing exists answer with a bus error.

mod clock;
mod flash;
mod gpio;
mod map;
mod part;
mod pin;
mod rcc;
mod usart;

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

pub use clock::HSI_HZ;
pub use flash::FlashTimes;
pub use part::{Part, STM32F030R8, STM32F030RC};
pub use pin::{Drive, Level, Pin, PinChange, Port};

pub(crate) use clock::Clock;
pub(crate) use rcc::ResetCause;

use crate::bus::{Bus, BusFault, Width};
use crate::word::low_half;
use flash::Flash;
use gpio::Gpio;
use map::Region;
use rcc::Rcc;
use usart::Usart;

/// Address of the main flash.
pub const FLASH_BASE: u32 = 0x0800_0000;
/// Address of the SRAM.
pub const SRAM_BASE: u32 = 0x2000_0000;
pub(crate) const OPTION_BYTES_BASE: u32 = 0x1fff_f800;

const PORTS: usize = 6;
const PORT_A: usize = 0;
const PORT_B: usize = 1;
/// USART1 can be on PA9 and PA10 or on PB6 and PB7, by these alternate functions.
const USART_TX: [(usize, u32, u32); 2] = [(PORT_A, 9, 1), (PORT_B, 6, 0)];
const USART_RX: [(usize, u32, u32); 2] = [(PORT_A, 10, 1), (PORT_B, 7, 0)];
const USART1_INTERRUPT: u32 = 27;

/// A word that USART1 started to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentWord {
    /// When its start bit began, in nanoseconds since the target was made.
    pub at_ns: u64,
    /// Duration of a bit, in nanoseconds.
    pub bit_ns: u64,
    /// The data bits.
    pub value: u16,
}

/// The chip without its core.
#[derive(Debug)]
pub struct Stm32f0 {
    part: Part,
    flash: Flash,
    sram: Vec<u8>,
    rcc: Rcc,
    ports: [Gpio; PORTS],
    usart: Usart,
    /// SYSCFG_CFGR1: selects the memory at address 0.
    boot_map: u32,
    debug_freeze: [u32; 3],
    clock: Clock,
    changes: VecDeque<PinChange>,
    sent: Vec<SentWord>,
    /// The cycle until which a debugger's access occupies the bus: a write to a busy flash waits for the
    /// one before it.
    debugger_waits_until: u64,
}

impl Stm32f0 {
    /// A chip as delivered: its flash erased, its SRAM with undefined contents (but always the same).
    #[must_use]
    pub fn new(part: Part) -> Self {
        let mut chip = Self {
            part,
            flash: Flash::new(&part),
            sram: vec![0; part.sram_bytes as usize],
            rcc: Rcc::new(),
            ports: std::array::from_fn(|_| Gpio::default()),
            usart: Usart::new(),
            boot_map: 0,
            debug_freeze: [0; 3],
            clock: Clock::default(),
            changes: VecDeque::new(),
            sent: Vec::new(),
            debugger_waits_until: 0,
        };
        chip.scramble_sram();
        chip
    }

    /// The part that is simulated.
    #[must_use]
    pub fn part(&self) -> &Part {
        &self.part
    }

    /// The contents of the flash, to read or change without a debugger.
    pub fn flash_mut(&mut self) -> &mut [u8] {
        self.flash.cells_mut()
    }

    /// The contents of the flash.
    #[must_use]
    pub fn flash(&self) -> &[u8] {
        self.flash.cells()
    }

    /// Sets how long flash operations take, for benches that cannot wait for realistic times.
    pub fn set_flash_times(&mut self, times: FlashTimes) {
        self.flash.set_times(times);
    }

    /// Puts the part under read protection: a debugger can no longer read its flash. Setting the protection
    /// byte back to "unprotected" erases the flash.
    pub fn protect_from_reading(&mut self) {
        self.flash.protect_from_reading();
    }

    /// Makes the half word at this offset of the flash stay erased whatever is programmed. The controller
    /// does not notice, just like a real one; only reading back does.
    pub fn wear_out(&mut self, offset: u32) {
        self.flash.wear_out(offset);
    }

    /// Whether the flash is under read protection.
    #[must_use]
    pub fn is_read_protected(&self) -> bool {
        self.flash.is_read_protected()
    }

    /// Whether read protection hides this address from a debugger.
    pub(crate) fn hides(&self, address: u32) -> bool {
        let in_flash = address.wrapping_sub(FLASH_BASE) < self.part.flash_bytes;
        let in_alias = address < self.part.flash_bytes && self.boot_map == 0;
        self.is_read_protected() && (in_flash || in_alias)
    }

    /// SRAM loses its contents without power. It is filled with noise, so that software does not rely on
    /// zeros.
    pub(crate) fn scramble_sram(&mut self) {
        let mut state = 0x9e37_79b9u32;
        for byte in &mut self.sram {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            *byte = crate::word::low_byte(state);
        }
    }

    /// A system reset of everything but the core.
    pub(crate) fn reset(&mut self, now: u64, cause: ResetCause) {
        self.rcc.reset(cause);
        self.flash.reset();
        self.usart = Usart::new();
        self.boot_map = 0;
        self.clock.change(now, HSI_HZ);
        for place in 0..PORTS {
            self.ports[place].reset(place == PORT_A);
            self.show_port(now, place);
        }
    }

    /// Floats all pins when the power goes off.
    pub(crate) fn release_pins(&mut self, now: u64) {
        for place in 0..PORTS {
            // The state after power-on, in which all pins are inputs.
            self.ports[place].reset(false);
            self.show_port(now, place);
        }
        self.usart = Usart::new();
    }

    pub(crate) fn clock(&self) -> &Clock {
        &self.clock
    }

    pub(crate) fn clock_mut(&mut self) -> &mut Clock {
        &mut self.clock
    }

    /// The next pin change that the outside has not received yet.
    pub(crate) fn take_change(&mut self) -> Option<PinChange> {
        self.changes.pop_front()
    }

    pub(crate) fn take_sent(&mut self) -> Vec<SentWord> {
        std::mem::take(&mut self.sent)
    }

    /// Whether software requested to load the option bytes, which causes a reset.
    pub(crate) fn takes_option_launch(&mut self) -> bool {
        self.flash.takes_launch()
    }

    /// The cycle until which a debugger's access keeps the bus busy.
    pub(crate) fn bus_busy_until(&self) -> u64 {
        self.debugger_waits_until
    }

    /// The outside has changed what it drives at a pin.
    pub(crate) fn set_outside(&mut self, now: u64, pin: Pin, level: Level) {
        let port = &mut self.ports[pin.port.place() as usize];
        port.set_outside(pin.number, level);
        self.update_receive_line(now);
    }

    /// Level at a pin as the chip reads it.
    #[must_use]
    pub fn reads(&self, pin: Pin) -> bool {
        self.ports[pin.port.place() as usize].level(u32::from(pin.number))
    }

    fn update_receive_line(&mut self, now: u64) {
        let wired = USART_RX
            .iter()
            .find(|(port, pin, function)| self.ports[*port].function(*pin) == Some(*function));
        let level = wired.is_none_or(|(port, pin, _)| self.ports[*port].level(*pin));
        self.usart.set_input(now, level);
    }

    /// Records the changes at the pins of a port.
    fn show_port(&mut self, now: u64, place: usize) {
        let outputs = USART_TX
            .iter()
            .filter(|(port, pin, function)| {
                *port == place && self.ports[place].function(*pin) == Some(*function)
            })
            .fold(0, |outputs, (_, pin, _)| outputs | 1 << pin);
        let Some(port) = u32::try_from(place).ok().and_then(Port::at_place) else {
            return;
        };
        let at_ns = self.clock.ns(now);
        let changes = self.ports[place].changes(outputs);
        self.changes
            .extend(changes.map(|(number, drive)| PinChange {
                at_ns,
                pin: Pin { port, number },
                drive,
            }));
    }

    fn set_transmit_line(&mut self, now: u64, level: bool) {
        for (port, pin, _) in USART_TX {
            self.ports[port].set_alternate_level(pin, level);
            self.show_port(now, port);
        }
    }
}

impl Bus for Stm32f0 {
    #[inline]
    fn fetch(&mut self, now: u64, address: u32) -> Result<u16, BusFault> {
        let offset = address.wrapping_sub(FLASH_BASE) as usize;
        if let Some([low, high]) = self.flash.cells().get(offset..offset.wrapping_add(2)) {
            return Ok(u16::from_le_bytes([*low, *high]));
        }
        match map::region(self, address) {
            Region::Sram(_) | Region::Flash(_) => {
                self.load(now, address, Width::Half).map(low_half)
            }
            _ => Err(BusFault { address }),
        }
    }

    #[inline]
    fn load(&mut self, now: u64, address: u32, width: Width) -> Result<u32, BusFault> {
        let offset = address.wrapping_sub(SRAM_BASE) as usize;
        if let Some(value) = map::read_bytes(&self.sram, offset, width) {
            return Ok(value);
        }
        self.load_elsewhere(now, address, width)
    }

    #[inline]
    fn store(&mut self, now: u64, address: u32, width: Width, value: u32) -> Result<(), BusFault> {
        let offset = address.wrapping_sub(SRAM_BASE) as usize;
        if map::write_bytes(&mut self.sram, offset, width, value) {
            return Ok(());
        }
        self.store_elsewhere(now, address, width, value)
    }

    fn advance(&mut self, now: u64) {
        while let Some(event) = self.usart.advance(now) {
            if let Some(word) = event.started {
                let at_ns = self.clock.ns(event.at);
                self.sent.push(SentWord {
                    at_ns,
                    bit_ns: self.clock.ns(event.at + word.bit_cycles) - at_ns,
                    value: word.value,
                });
            }
            self.set_transmit_line(event.at, event.level);
        }
    }

    fn next_event(&self) -> u64 {
        self.usart.next_event()
    }

    fn interrupts(&self) -> u32 {
        u32::from(self.usart.interrupts()) << USART1_INTERRUPT
    }

    fn stalled_until(&self, address: u32) -> u64 {
        match map::region(self, address) {
            Region::Flash(_) => self.flash.busy_until(),
            _ => 0,
        }
    }

    fn has_output(&self) -> bool {
        !self.changes.is_empty()
    }
}
