//! A serial port with the registers of this family in front: one status register whose flags are cleared by
//! reading it and then the data.

use crate::chip::Usart;
use crate::chip::offset;
use crate::word::bit;

const SR: u32 = 0x00;
const DR: u32 = 0x04;
const BRR: u32 = 0x08;
const CR1: u32 = 0x0c;
const CR2: u32 = 0x10;
const CR3: u32 = 0x14;

/// The enable is in another place than in the STM32F0.
const UE: u32 = 13;
const CR1_SAME: u32 = 0x9ffc;
const CR1_MASK: u32 = 0xbfff;
const STATUS: u32 = 0xff;
/// Flags that reading clears: parity, framing, noise, overrun, idle.
const CLEARED_BY_READING: u32 = 0x1f;
const RXNE: u32 = 1 << 5;
const TC: u32 = 1 << 6;

#[derive(Debug)]
pub(super) struct Serial {
    port: Usart,
    control: u32,
    /// Flags that the next read of the data clears.
    seen: u32,
}

impl Default for Serial {
    fn default() -> Self {
        Self {
            port: Usart::new(),
            control: 0,
            seen: 0,
        }
    }
}

impl Serial {
    pub(super) fn set_bus_divider(&mut self, divider: u32) {
        self.port.set_bus_divider(divider);
    }

    pub(super) fn set_input(&mut self, now: u64, level: bool) {
        self.port.set_input(now, level);
    }

    pub(super) fn next_event(&self) -> u64 {
        self.port.next_event()
    }

    pub(super) fn interrupts(&self) -> bool {
        self.port.interrupts()
    }

    pub(super) fn is_idle(&self) -> bool {
        self.port.is_idle()
    }

    pub(super) fn advance(&mut self, now: u64) -> Option<crate::chip::LineEvent> {
        self.port.advance(now)
    }

    pub(super) fn read(&mut self, now: u64, register: u32) -> u32 {
        match register {
            SR => {
                let status = self.port.read(offset::ISR) & STATUS;
                self.seen = status & CLEARED_BY_READING;
                status
            }
            DR => {
                let data = self.port.read(offset::RDR);
                self.port
                    .write(now, offset::ICR, std::mem::take(&mut self.seen));
                data
            }
            BRR => self.port.read(offset::BRR),
            CR1 => self.control,
            CR2 => self.port.read(offset::CR2),
            CR3 => self.port.read(offset::CR3),
            _ => 0,
        }
    }

    pub(super) fn write(&mut self, now: u64, register: u32, value: u32) {
        match register {
            SR => {
                self.port.write(now, offset::ICR, !value & TC);
                if value & RXNE == 0 {
                    self.port.write(now, offset::RQR, 1 << 3);
                }
            }
            DR => self.port.write(now, offset::TDR, value),
            BRR => self.port.write(now, offset::BRR, value),
            CR1 => {
                self.control = value & CR1_MASK;
                let enable = u32::from(bit(value, UE));
                self.port.write(now, offset::CR1, value & CR1_SAME | enable);
            }
            CR2 => self.port.write(now, offset::CR2, value),
            CR3 => self.port.write(now, offset::CR3, value),
            _ => {}
        }
    }
}
