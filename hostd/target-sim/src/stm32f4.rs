//! The chip around the core: an STM32F446 with flash, SRAM, clock control, GPIO ports, USART1 and USART2.
//!
//! Peripherals that are not modelled read as zero and ignore writes, like those whose clock is off.
//! Addresses where nothing exists answer with a bus error.

mod flash;
mod i2c;
mod map;
mod power;
mod rcc;
mod serial;

#[cfg(test)]
mod tests;

use crate::bus::{Bus, BusFault, Width};
use crate::chip::{
    Chip, Clock, FLASH_BASE, FlashTimes, Level, Part, Pin, PinChange, PortReset, Ports, ResetCause,
    Route, SRAM_BASE, SentWord, Silicon, read_bytes, scramble, write_bytes,
};
use crate::word::low_half;
use flash::Flash;
use i2c::I2c;
use map::Region;
use power::Power;
use rcc::Rcc;
use serial::Serial;

/// Frequency of the internal oscillator with which the part starts, in hertz.
const HSI_HZ: u32 = 16_000_000;

const PORTS: usize = 8;
const PORT_A: usize = 0;
const PORT_B: usize = 1;
/// The debug pins of ports A and B.
const PORT_RESETS: [PortReset; 2] = [
    PortReset {
        mode: 0xa800_0000,
        speed: 0x0c00_0000,
        pull: 0x6400_0000,
    },
    PortReset {
        mode: 0x0000_0280,
        speed: 0x0000_00c0,
        pull: 0x0000_0100,
    },
];

const fn route(port: usize, pin: u32, function: u32) -> Route {
    Route {
        port,
        pin,
        function,
    }
}

/// USART1 and USART2 at all their pins of ports A and B, outputs first.
const USART1_TX: [Route; 2] = [route(PORT_A, 9, 7), route(PORT_B, 6, 7)];
const USART1_RX: [Route; 2] = [route(PORT_A, 10, 7), route(PORT_B, 7, 7)];
const USART2_TX: [Route; 1] = [route(PORT_A, 2, 7)];
const USART2_RX: [Route; 1] = [route(PORT_A, 3, 7)];
/// I2C1.
const SCL: [Route; 2] = [route(PORT_B, 8, 4), route(PORT_B, 6, 4)];
const SDA: [Route; 2] = [route(PORT_B, 9, 4), route(PORT_B, 7, 4)];
const OUTPUTS: [Route; 7] = [
    USART1_TX[0],
    USART1_TX[1],
    USART2_TX[0],
    SCL[0],
    SCL[1],
    SDA[0],
    SDA[1],
];

/// The serial ports: outputs, inputs, interrupts.
const SERIALS: usize = 2;
const SERIAL_TX: [&[Route]; SERIALS] = [&USART1_TX, &USART2_TX];
const SERIAL_RX: [&[Route]; SERIALS] = [&USART1_RX, &USART2_RX];
const SERIAL_INTERRUPTS: [u32; SERIALS] = [37, 38];
const I2C1_EVENT_INTERRUPT: u32 = 31;
const I2C1_ERROR_INTERRUPT: u32 = 32;

/// The chip without its core.
#[derive(Debug)]
pub struct Stm32f4 {
    part: Part,
    flash: Flash,
    sram: Vec<u8>,
    rcc: Rcc,
    power: Power,
    ports: Ports,
    serials: [Serial; SERIALS],
    i2c: I2c,
    /// SYSCFG_MEMRMP: selects the memory at address 0.
    boot_map: u32,
    debug_freeze: [u32; 3],
    clock: Clock,
    sent: Vec<SentWord>,
    /// The cycle until which a debugger's access occupies the bus: a write to a busy flash waits for the
    /// one before it.
    debugger_waits_until: u64,
}

impl Stm32f4 {
    /// A chip as delivered: its flash erased, its SRAM with undefined contents (but always the same).
    #[must_use]
    pub fn new(part: Part) -> Self {
        let mut chip = Self {
            part,
            flash: Flash::new(&part),
            sram: vec![0; part.sram_bytes as usize],
            rcc: Rcc::new(),
            power: Power::default(),
            ports: Ports::new(PORTS, &OUTPUTS),
            serials: std::array::from_fn(|_| Serial::default()),
            i2c: I2c::default(),
            boot_map: 0,
            debug_freeze: [0; 3],
            clock: Clock::new(HSI_HZ),
            sent: Vec::new(),
            debugger_waits_until: 0,
        };
        chip.scramble_sram();
        chip
    }

    /// Inputs of peripherals follow their pins.
    fn update_inputs(&mut self, now: u64) {
        for (serial, routes) in self.serials.iter_mut().zip(SERIAL_RX) {
            serial.set_input(now, self.ports.input(routes));
        }
        let (clock, data) = (self.ports.input(&SCL), self.ports.input(&SDA));
        self.i2c.set_lines(clock, data);
    }

    /// Shows what the I2C controller drives now, and lets it see the result.
    fn show_i2c(&mut self, now: u64) {
        let at_ns = self.clock.ns(now);
        let (clock, data) = self.i2c.drives();
        self.ports.set_output(at_ns, &SCL, clock);
        self.ports.set_output(at_ns, &SDA, data);
        self.update_inputs(now);
    }

    fn stop_peripherals(&mut self) {
        self.serials = std::array::from_fn(|_| Serial::default());
        self.i2c = I2c::default();
        self.power = Power::default();
    }
}

impl Chip for Stm32f4 {
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

impl Silicon for Stm32f4 {
    fn hides(&self, address: u32) -> bool {
        self.is_read_protected() && matches!(map::region(self, address), Region::Flash(_))
    }

    fn scramble_sram(&mut self) {
        scramble(&mut self.sram);
    }

    fn reset(&mut self, now: u64, cause: ResetCause) {
        self.rcc.reset(cause);
        self.flash.reset();
        self.stop_peripherals();
        self.boot_map = 0;
        self.clock.change(now, HSI_HZ);
        self.ports.reset(self.clock.ns(now), &PORT_RESETS);
    }

    fn release_pins(&mut self, now: u64) {
        // The state after power-on, in which all pins are inputs.
        self.ports.reset(self.clock.ns(now), &[]);
        self.stop_peripherals();
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

    /// Option bytes take effect at once.
    fn takes_option_launch(&mut self) -> bool {
        false
    }

    fn bus_busy_until(&self) -> u64 {
        self.debugger_waits_until
    }

    fn set_outside(&mut self, now: u64, pin: Pin, level: Level) {
        self.ports.set_outside(pin, level);
        self.update_inputs(now);
    }
}

impl Bus for Stm32f4 {
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
        let offset = address.wrapping_sub(FLASH_BASE) as usize;
        if let Some(value) = read_bytes(self.flash.cells(), offset, width) {
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
        for (serial, routes) in self.serials.iter_mut().zip(SERIAL_TX) {
            while let Some(event) = serial.advance(now) {
                let at_ns = self.clock.ns(event.at);
                if let Some(word) = event.started {
                    self.sent.push(SentWord {
                        at_ns,
                        bit_ns: self.clock.ns(event.at + word.bit_cycles) - at_ns,
                        value: word.value,
                    });
                }
                self.ports.set_output(at_ns, routes, event.level);
            }
        }
        while let Some(at) = self.i2c.advance(now) {
            self.show_i2c(at);
        }
    }

    fn next_event(&self) -> u64 {
        let serials = self.serials.iter().map(Serial::next_event);
        serials.fold(self.i2c.next_event(), u64::min)
    }

    fn interrupts(&self) -> u128 {
        let serials = self.serials.iter().zip(SERIAL_INTERRUPTS);
        let lines = serials.fold(0, |lines, (serial, number)| {
            lines | u128::from(serial.interrupts()) << number
        });
        lines
            | u128::from(self.i2c.event_interrupt()) << I2C1_EVENT_INTERRUPT
            | u128::from(self.i2c.error_interrupt()) << I2C1_ERROR_INTERRUPT
    }

    fn stalled_until(&self, address: u32) -> u64 {
        if self.flash.busy_until() == 0 {
            return 0;
        }
        match map::region(self, address) {
            Region::Flash(_) => self.flash.busy_until(),
            _ => 0,
        }
    }

    fn has_output(&self) -> bool {
        self.ports.has_changes()
    }
}
