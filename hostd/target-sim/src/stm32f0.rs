//! The chip around the core: an STM32F030 with flash, SRAM, clock control, GPIO ports and USART1.
//!
//! Peripherals that are not modelled read as zero and ignore writes, like those whose clock is off.
//! Addresses where nothing exists answer with a bus error.

mod flash;
mod map;
mod rcc;

#[cfg(test)]
mod tests;

use crate::bus::{Bus, BusFault, Width};
use crate::chip::{
    Chip, Clock, FLASH_BASE, FlashTimes, Level, Part, Pin, PinChange, PortReset, Ports, ResetCause,
    Route, SRAM_BASE, SentWord, Silicon, Usart, read_bytes, scramble, write_bytes,
};
use crate::word::low_half;
use flash::Flash;
use map::Region;
use rcc::Rcc;

/// Frequency of the internal oscillator with which the part starts, in hertz.
const HSI_HZ: u32 = 8_000_000;

pub(crate) const OPTION_BYTES_BASE: u32 = 0x1fff_f800;

const PORTS: usize = 6;
const PORT_A: usize = 0;
const PORT_B: usize = 1;
/// The debug pins of port A.
const PORT_RESETS: [PortReset; 1] = [PortReset {
    mode: 0x2800_0000,
    speed: 0x0c00_0000,
    pull: 0x2400_0000,
}];
/// USART1 can be on PA9 and PA10 or on PB6 and PB7, by these alternate functions.
const USART_TX: [Route; 2] = [route(PORT_A, 9, 1), route(PORT_B, 6, 0)];
const USART_RX: [Route; 2] = [route(PORT_A, 10, 1), route(PORT_B, 7, 0)];

const fn route(port: usize, pin: u32, function: u32) -> Route {
    Route {
        port,
        pin,
        function,
    }
}

const USART1_INTERRUPT: u32 = 27;

/// The chip without its core.
#[derive(Debug)]
pub struct Stm32f0 {
    part: Part,
    flash: Flash,
    sram: Vec<u8>,
    rcc: Rcc,
    ports: Ports,
    usart: Usart,
    /// SYSCFG_CFGR1: selects the memory at address 0.
    boot_map: u32,
    debug_freeze: [u32; 3],
    clock: Clock,
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
            ports: Ports::new(PORTS, &USART_TX),
            usart: Usart::new(),
            boot_map: 0,
            debug_freeze: [0; 3],
            clock: Clock::new(HSI_HZ),
            sent: Vec::new(),
            debugger_waits_until: 0,
        };
        chip.scramble_sram();
        chip
    }

    fn update_receive_line(&mut self, now: u64) {
        self.usart.set_input(now, self.ports.input(&USART_RX));
    }

    fn set_transmit_line(&mut self, now: u64, level: bool) {
        let at_ns = self.clock.ns(now);
        self.ports.set_output(at_ns, &USART_TX, level);
    }
}

impl Chip for Stm32f0 {
    fn part(&self) -> &Part {
        &self.part
    }

    fn flash_mut(&mut self) -> &mut [u8] {
        self.flash.cells_mut()
    }

    fn flash(&self) -> &[u8] {
        self.flash.cells()
    }

    fn set_flash_times(&mut self, times: FlashTimes) {
        self.flash.set_times(times);
    }

    fn protect_from_reading(&mut self) {
        self.flash.protect_from_reading();
    }

    fn is_read_protected(&self) -> bool {
        self.flash.is_read_protected()
    }

    fn wear_out(&mut self, offset: u32) {
        self.flash.wear_out(offset);
    }

    fn reads(&self, pin: Pin) -> bool {
        self.ports.reads(pin)
    }
}

impl Silicon for Stm32f0 {
    fn hides(&self, address: u32) -> bool {
        let in_flash = address.wrapping_sub(FLASH_BASE) < self.part.flash_bytes;
        let in_alias = address < self.part.flash_bytes && self.boot_map == 0;
        self.is_read_protected() && (in_flash || in_alias)
    }

    fn scramble_sram(&mut self) {
        scramble(&mut self.sram);
    }

    fn reset(&mut self, now: u64, cause: ResetCause) {
        self.rcc.reset(cause);
        self.flash.reset();
        self.usart = Usart::new();
        self.boot_map = 0;
        self.clock.change(now, HSI_HZ);
        self.ports.reset(self.clock.ns(now), &PORT_RESETS);
    }

    fn release_pins(&mut self, now: u64) {
        // The state after power-on, in which all pins are inputs.
        self.ports.reset(self.clock.ns(now), &[]);
        self.usart = Usart::new();
    }

    fn clock(&self) -> &Clock {
        &self.clock
    }

    fn clock_mut(&mut self) -> &mut Clock {
        &mut self.clock
    }

    fn take_change(&mut self) -> Option<PinChange> {
        self.ports.take_change()
    }

    fn take_sent(&mut self) -> Vec<SentWord> {
        std::mem::take(&mut self.sent)
    }

    fn takes_option_launch(&mut self) -> bool {
        self.flash.takes_launch()
    }

    fn bus_busy_until(&self) -> u64 {
        self.debugger_waits_until
    }

    fn set_outside(&mut self, now: u64, pin: Pin, level: Level) {
        self.ports.set_outside(pin, level);
        self.update_receive_line(now);
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
        if let Some(value) = read_bytes(&self.sram, offset, width) {
            return Ok(value);
        }
        self.load_elsewhere(now, address, width)
    }

    #[inline]
    fn store(&mut self, now: u64, address: u32, width: Width, value: u32) -> Result<(), BusFault> {
        let offset = address.wrapping_sub(SRAM_BASE) as usize;
        if write_bytes(&mut self.sram, offset, width, value) {
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

    fn interrupts(&self) -> u128 {
        u128::from(self.usart.interrupts()) << USART1_INTERRUPT
    }

    fn stalled_until(&self, address: u32) -> u64 {
        match map::region(self, address) {
            Region::Flash(_) => self.flash.busy_until(),
            _ => 0,
        }
    }

    fn has_output(&self) -> bool {
        self.ports.has_changes()
    }
}
