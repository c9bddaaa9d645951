//! The memory map, and accesses to everything but SRAM.

use super::{SERIALS, Stm32f4};
use crate::bus::{BusFault, Width};
use crate::chip::{FLASH_BASE, SRAM_BASE, narrowed, read_bytes, write_bytes};

const SYSTEM_BASE: u32 = 0x1fff_0000;
const SYSTEM_BYTES: u32 = 0x7a30;
const OPTIONS_BASE: u32 = 0x1fff_c000;
const OPTIONS_BYTES: u32 = 16;
/// 96 bits that are unique to each part; these spell SIM.
const UNIQUE_ID: u32 = 0x1fff_7a10;
const UNIQUE_ID_BYTES: [u8; 12] = *b"\x01\x00\x53\x49\x4d\x34\x34\x36\x20\x36\x31\x20";
const FLASH_SIZE: u32 = 0x1fff_7a22;

const USART2: u32 = 0x4000_4400;
const I2C1: u32 = 0x4000_5400;
const PWR: u32 = 0x4000_7000;
const USART1: u32 = 0x4001_1000;
const SYSCFG: u32 = 0x4001_3800;
const PORTS: u32 = 0x4002_0000;
const LAST_PORT: u32 = 0x4002_1c00;
const RCC: u32 = 0x4002_3800;
const FLASH_CONTROLLER: u32 = 0x4002_3c00;
const DBGMCU: u32 = 0xe004_2000;
/// Regions with peripherals, modelled or not.
const PERIPHERALS: [std::ops::Range<u32>; 6] = [
    0x4000_0000..0x4000_8000,
    0x4001_0000..0x4001_6c00,
    0x4002_0000..0x4008_0000,
    0x5000_0000..0x5006_0c00,
    0xa000_0000..0xa000_2000,
    DBGMCU..0xe004_2400,
];
const BLOCK: u32 = 0x400;

/// Values of the memory mapping bits.
const MAP_SYSTEM: u32 = 1;
const MAP_SRAM: u32 = 3;

/// The memory or peripheral at an address, with the offset in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Region {
    Flash(u32),
    Sram(u32),
    System(u32),
    Options(u32),
    /// Address of the peripheral's block, and the offset in it.
    Peripheral(u32, u32),
    Nothing,
}

/// Finds the memory or peripheral at an address.
pub(super) fn region(chip: &Stm32f4, address: u32) -> Region {
    let within = |base: u32, bytes: u32| {
        let offset = address.wrapping_sub(base);
        (offset < bytes).then_some(offset)
    };
    if let Some(offset) = within(FLASH_BASE, chip.part.flash_bytes) {
        return Region::Flash(offset);
    }
    if let Some(offset) = within(SRAM_BASE, chip.part.sram_bytes) {
        return Region::Sram(offset);
    }
    if let Some(offset) = within(SYSTEM_BASE, SYSTEM_BYTES) {
        return Region::System(offset);
    }
    if let Some(offset) = within(OPTIONS_BASE, OPTIONS_BYTES) {
        return Region::Options(offset);
    }
    if PERIPHERALS.iter().any(|region| region.contains(&address)) {
        return Region::Peripheral(address & !(BLOCK - 1), address & (BLOCK - 1));
    }
    match chip.boot_map {
        MAP_SYSTEM if address < SYSTEM_BYTES => Region::System(address),
        MAP_SRAM if address < chip.part.sram_bytes => Region::Sram(address),
        MAP_SYSTEM | MAP_SRAM => Region::Nothing,
        _ if address < chip.part.flash_bytes => Region::Flash(address),
        _ => Region::Nothing,
    }
}

/// The byte at an offset of the system memory.
fn system_byte(chip: &Stm32f4, offset: u32) -> u8 {
    let address = SYSTEM_BASE + offset;
    let size = (chip.part.flash_bytes / 1024).to_le_bytes();
    let id = address.wrapping_sub(UNIQUE_ID) as usize;
    let size_byte = address.wrapping_sub(FLASH_SIZE) as usize;
    let known = UNIQUE_ID_BYTES.get(id).or_else(|| size[..2].get(size_byte));
    known.copied().unwrap_or(0xff)
}

impl Stm32f4 {
    pub(super) fn load_elsewhere(
        &mut self,
        now: u64,
        address: u32,
        width: Width,
    ) -> Result<u32, BusFault> {
        let value = match region(self, address) {
            Region::Flash(offset) => read_bytes(self.flash.cells(), offset as usize, width),
            Region::Sram(offset) => read_bytes(&self.sram, offset as usize, width),
            Region::Options(offset) => {
                Some(narrowed(self.flash.option_word(offset & !3), offset, width))
            }
            Region::System(offset) => {
                let bytes = [0, 1, 2, 3].map(|place| system_byte(self, offset + place));
                Some(narrowed(u32::from_le_bytes(bytes), 0, width))
            }
            Region::Peripheral(block, offset) => {
                let word = self.read_register(now, block, offset & !3);
                Some(narrowed(word, address, width))
            }
            Region::Nothing => None,
        };
        value.ok_or(BusFault { address })
    }

    pub(super) fn store_elsewhere(
        &mut self,
        now: u64,
        address: u32,
        width: Width,
        value: u32,
    ) -> Result<(), BusFault> {
        match region(self, address) {
            Region::Flash(offset) => {
                if self.flash.busy_until() > now {
                    self.debugger_waits_until = self.flash.busy_until();
                }
                self.flash.program(now, &self.clock, offset, width, value)
            }
            Region::Sram(offset) => {
                write_bytes(&mut self.sram, offset as usize, width, value);
                Ok(())
            }
            Region::System(_) | Region::Options(_) => Ok(()),
            Region::Peripheral(block, offset) => {
                let shift = (address & 3) * 8;
                let mask = match width {
                    Width::Byte => 0xff,
                    Width::Half => 0xffff,
                    Width::Word => u32::MAX,
                } << shift;
                let mut word = value << shift & mask;
                if matches!(block, PORTS..=FLASH_CONTROLLER) && width != Width::Word {
                    word |= self.read_register(now, block, offset & !3) & !mask;
                }
                self.write_register(now, block, offset & !3, word)
                    .map_err(|()| BusFault { address })
            }
            Region::Nothing => Err(BusFault { address }),
        }
    }

    /// The serial port at an address, if it is clocked.
    fn serial_at(&self, block: u32) -> Option<usize> {
        let number = match block {
            USART1 if self.rcc.clocks_usart1() => 0,
            USART2 if self.rcc.clocks_usart2() => 1,
            _ => SERIALS,
        };
        (number < SERIALS).then_some(number)
    }

    fn read_register(&mut self, now: u64, block: u32, offset: u32) -> u32 {
        match block {
            PORTS..=LAST_PORT => {
                let port = (block - PORTS) / BLOCK;
                // There is no separate register to reset pins.
                if self.rcc.clocks_port(port) && offset < 0x28 {
                    self.ports.read(port as usize, offset)
                } else {
                    0
                }
            }
            USART1 | USART2 => {
                let serial = self.serial_at(block);
                serial.map_or(0, |number| self.serials[number].read(now, offset))
            }
            I2C1 if self.rcc.clocks_i2c1() => {
                let value = self.i2c.read(now, offset);
                self.show_i2c(now);
                value
            }
            SYSCFG if self.rcc.clocks_syscfg() && offset == 0 => self.boot_map,
            PWR if self.rcc.clocks_power() => self.power.read(offset),
            DBGMCU => match offset {
                0 => self.part.id_code,
                4 | 8 | 12 => self.debug_freeze[(offset / 4 - 1) as usize],
                _ => 0,
            },
            RCC => self.rcc.read(offset),
            FLASH_CONTROLLER => self.flash.read(now, offset),
            _ => 0,
        }
    }

    fn write_register(&mut self, now: u64, block: u32, offset: u32, value: u32) -> Result<(), ()> {
        match block {
            PORTS..=LAST_PORT => {
                let port = (block - PORTS) / BLOCK;
                if self.rcc.clocks_port(port) && offset < 0x28 {
                    let at_ns = self.clock.ns(now);
                    self.ports.write(at_ns, port as usize, offset, value);
                    self.update_inputs(now);
                }
            }
            USART1 | USART2 => {
                if let Some(number) = self.serial_at(block) {
                    self.serials[number].write(now, offset, value);
                    if self.serials[number].is_idle() {
                        let at_ns = self.clock.ns(now);
                        self.ports.set_output(at_ns, super::SERIAL_TX[number], true);
                    }
                }
            }
            I2C1 if self.rcc.clocks_i2c1() => {
                self.i2c.write(now, offset, value);
                self.show_i2c(now);
            }
            SYSCFG if self.rcc.clocks_syscfg() && offset == 0 => self.boot_map = value & 3,
            PWR if self.rcc.clocks_power() => self.power.write(offset, value),
            DBGMCU if (4..16).contains(&offset) => {
                self.debug_freeze[(offset / 4 - 1) as usize] = value;
            }
            RCC => {
                self.rcc.write(offset, value);
                self.serials[0].set_bus_divider(self.rcc.fast_divider());
                self.serials[1].set_bus_divider(self.rcc.slow_divider());
                self.i2c.set_bus_divider(self.rcc.slow_divider());
                self.clock.change(now, self.rcc.core_hz());
            }
            FLASH_CONTROLLER => self.flash.write(now, &self.clock, offset, value)?,
            _ => {}
        }
        Ok(())
    }
}
