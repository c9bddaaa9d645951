//! The memory map, and accesses to everything but SRAM.

use super::{OPTION_BYTES_BASE, Stm32f0};
use crate::bus::{BusFault, Width};
use crate::chip::{FLASH_BASE, SRAM_BASE, narrowed, read_bytes, write_bytes};

const SYSTEM_BASE: u32 = 0x1fff_ec00;
const SYSTEM_BYTES: u32 = 0xc00;
/// 96 bits that are unique to each part; these spell SIM.
const UNIQUE_ID: u32 = 0x1fff_f7ac;
const UNIQUE_ID_BYTES: [u8; 12] = *b"\x01\x00\x53\x49\x4d\x30\x33\x30\x20\x36\x31\x20";
const FLASH_SIZE: u32 = 0x1fff_f7cc;

const SYSCFG: u32 = 0x4001_0000;
const USART1: u32 = 0x4001_3800;
const DBGMCU: u32 = 0x4001_5800;
const RCC: u32 = 0x4002_1000;
const FPEC: u32 = 0x4002_2000;
const PORTS: u32 = 0x4800_0000;
/// Regions with peripherals, modelled or not.
const PERIPHERALS: [std::ops::Range<u32>; 3] = [
    0x4000_0000..0x4001_8000,
    0x4002_0000..0x4002_4400,
    PORTS..0x4800_1800,
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
pub(super) fn region(chip: &Stm32f0, address: u32) -> Region {
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
    if let Some(offset) = within(OPTION_BYTES_BASE, 16) {
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

/// The byte at an offset of the information block.
fn system_byte(chip: &Stm32f0, offset: u32) -> u8 {
    let address = SYSTEM_BASE + offset;
    let size = (chip.part.flash_bytes / 1024).to_le_bytes();
    let id = address.wrapping_sub(UNIQUE_ID) as usize;
    let size_byte = address.wrapping_sub(FLASH_SIZE) as usize;
    let known = UNIQUE_ID_BYTES.get(id).or_else(|| size[..2].get(size_byte));
    known.copied().unwrap_or(0xff)
}

impl Stm32f0 {
    pub(super) fn load_elsewhere(
        &mut self,
        now: u64,
        address: u32,
        width: Width,
    ) -> Result<u32, BusFault> {
        let value = match region(self, address) {
            Region::Flash(offset) => read_bytes(self.flash.cells(), offset as usize, width),
            Region::Sram(offset) => read_bytes(&self.sram, offset as usize, width),
            Region::Options(offset) => read_bytes(self.flash.options(), offset as usize, width),
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
            Region::Options(offset) => {
                self.flash
                    .program_option(now, &self.clock, offset, width, value)
            }
            Region::Sram(offset) => {
                write_bytes(&mut self.sram, offset as usize, width, value);
                Ok(())
            }
            Region::System(_) => Ok(()),
            Region::Peripheral(block, offset) => {
                let shift = (address & 3) * 8;
                let mask = match width {
                    Width::Byte => 0xff,
                    Width::Half => 0xffff,
                    Width::Word => u32::MAX,
                } << shift;
                let mut word = value << shift & mask;
                if block >= PORTS && width != Width::Word {
                    word |= self.read_register(now, block, offset & !3) & !mask;
                }
                self.write_register(now, block, offset & !3, word)
                    .map_err(|()| BusFault { address })
            }
            Region::Nothing => Err(BusFault { address }),
        }
    }

    fn read_register(&mut self, now: u64, block: u32, offset: u32) -> u32 {
        match block {
            PORTS..=0x4800_1400 => {
                let port = (block - PORTS) / BLOCK;
                if self.rcc.clocks_port(port) {
                    self.ports.read(port as usize, offset)
                } else {
                    0
                }
            }
            USART1 if self.rcc.clocks_usart1() => self.usart.read(offset),
            SYSCFG if self.rcc.clocks_syscfg() && offset == 0 => self.boot_map,
            // A debugger reads these even while their clock is off.
            DBGMCU => match offset {
                0 => self.part.id_code,
                4 | 8 | 12 => self.debug_freeze[(offset / 4 - 1) as usize],
                _ => 0,
            },
            RCC => self.rcc.read(offset),
            FPEC => self.flash.read(now, offset),
            _ => 0,
        }
    }

    fn write_register(&mut self, now: u64, block: u32, offset: u32, value: u32) -> Result<(), ()> {
        match block {
            PORTS..=0x4800_1400 => {
                let port = (block - PORTS) / BLOCK;
                if self.rcc.clocks_port(port) {
                    let at_ns = self.clock.ns(now);
                    self.ports.write(at_ns, port as usize, offset, value);
                    self.update_receive_line(now);
                }
            }
            USART1 if self.rcc.clocks_usart1() => {
                self.usart.write(now, offset, value);
                if self.usart.is_idle() {
                    self.set_transmit_line(now, true);
                }
            }
            SYSCFG if self.rcc.clocks_syscfg() && offset == 0 => self.boot_map = value & 3,
            DBGMCU if (4..16).contains(&offset) => {
                self.debug_freeze[(offset / 4 - 1) as usize] = value;
            }
            RCC => {
                self.rcc.write(offset, value);
                self.usart.set_bus_divider(self.rcc.peripheral_divider());
                self.clock.change(now, self.rcc.core_hz());
            }
            FPEC => self.flash.write(now, &self.clock, offset, value)?,
            _ => {}
        }
        Ok(())
    }
}
