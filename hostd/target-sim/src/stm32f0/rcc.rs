//! Reset and clock control: oscillators that are ready as soon as they are on, the system clock, which
//! peripherals are clocked, and the cause of the last reset.

use super::HSI_HZ;
use crate::chip::ResetCause;
use crate::word::bit;

const CR: u32 = 0x00;
const CFGR: u32 = 0x04;
const AHBENR: u32 = 0x14;
const CSR: u32 = 0x24;
const CFGR2: u32 = 0x2c;
const CR2: u32 = 0x34;
const LAST: u32 = CR2;

const CR_RESET: u32 = 0x0000_0083;
const AHBENR_RESET: u32 = 0x14;
/// Oscillator and PLL enables, each with its ready flag one bit above.
const CR_ENABLES: u32 = 1 | 1 << 16 | 1 << 24;
/// A crystal of this frequency is fitted.
const HSE_HZ: u32 = 8_000_000;
const REMOVE_FLAGS: u32 = 1 << 24;

/// The bits of `RCC_CSR` that tell what reset the chip. Every reset pulls the pin, too.
const fn flags(cause: ResetCause) -> u32 {
    const PIN: u32 = 1 << 26;
    match cause {
        ResetCause::OptionLoader => 1 << 25 | PIN,
        ResetCause::Pin => PIN,
        ResetCause::Software => 1 << 28 | PIN,
        ResetCause::Power => 1 << 27 | PIN | 1 << 23,
    }
}

#[derive(Debug)]
pub(super) struct Rcc {
    registers: [u32; (LAST / 4 + 1) as usize],
}

impl Rcc {
    pub(super) fn new() -> Self {
        let mut registers = [0; (LAST / 4 + 1) as usize];
        registers[(CR / 4) as usize] = CR_RESET;
        registers[(AHBENR / 4) as usize] = AHBENR_RESET;
        Self { registers }
    }

    /// Returns to the values after reset; the causes of resets accumulate until software clears them.
    pub(super) fn reset(&mut self, cause: ResetCause) {
        let before = match cause {
            ResetCause::Power => 0,
            _ => self.get(CSR) & 0xff80_0000,
        };
        *self = Self::new();
        self.registers[(CSR / 4) as usize] = before | flags(cause);
    }

    fn get(&self, offset: u32) -> u32 {
        self.registers
            .get((offset / 4) as usize)
            .copied()
            .unwrap_or(0)
    }

    pub(super) fn read(&self, offset: u32) -> u32 {
        self.get(offset)
    }

    pub(super) fn write(&mut self, offset: u32, value: u32) {
        let old = self.get(offset);
        let new = match offset {
            CR => {
                // Configuration bits as written; ready flags follow their enables.
                let enables = value & CR_ENABLES;
                value & 0x000d_00f9 & !(CR_ENABLES << 1) | enables | enables << 1
            }
            // The switch takes effect at once: SWS follows SW.
            CFGR => value & !0xc | (value & 3) << 2,
            CSR => {
                let flags = if value & REMOVE_FLAGS == 0 {
                    old & 0xff80_0000
                } else {
                    0
                };
                flags | value & 1 | (value & 1) << 1
            }
            CR2 => value & 0xff0d & !2 | (value & 1) << 1,
            _ => value,
        };
        if let Some(register) = self.registers.get_mut((offset / 4) as usize) {
            *register = new;
        }
    }

    /// Frequency of the core, in hertz.
    pub(super) fn core_hz(&self) -> u32 {
        let configuration = self.get(CFGR);
        let pll_source = if bit(configuration, 16) {
            HSE_HZ / ((self.get(CFGR2) & 15) + 1)
        } else {
            HSI_HZ / 2
        };
        let multiplier = ((configuration >> 18 & 15) + 2).min(16);
        let system = match configuration >> 2 & 3 {
            1 => HSE_HZ,
            2 => pll_source * multiplier,
            _ => HSI_HZ,
        };
        let shift = match configuration >> 4 & 15 {
            0..=7 => 0,
            divider @ 8..=11 => divider - 7,
            divider => divider - 6,
        };
        system >> shift
    }

    /// Core cycles per cycle of the peripheral bus.
    pub(super) fn peripheral_divider(&self) -> u32 {
        match self.get(CFGR) >> 8 & 7 {
            0..=3 => 1,
            divider => 2 << (divider & 3),
        }
    }

    /// Whether a port is clocked: 0 for A up to 5 for F.
    pub(super) fn clocks_port(&self, port: u32) -> bool {
        bit(self.get(AHBENR), 17 + port)
    }

    pub(super) fn clocks_usart1(&self) -> bool {
        bit(self.get(0x18), 14)
    }

    pub(super) fn clocks_syscfg(&self) -> bool {
        bit(self.get(0x18), 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ready_follows_enable() {
        let mut rcc = Rcc::new();
        assert_eq!(rcc.read(CR) & 3, 3, "the internal oscillator runs");
        rcc.write(CR, rcc.read(CR) | 1 << 24 | 1 << 16);
        assert_eq!(rcc.read(CR) >> 16, 0x0303);
        rcc.write(CR, 1);
        assert_eq!(rcc.read(CR) >> 16, 0);
    }

    #[test]
    fn the_usual_48_mhz_come_out() {
        let mut rcc = Rcc::new();
        assert_eq!(rcc.core_hz(), 8_000_000);
        rcc.write(CFGR, 0x0010_0002);
        assert_eq!(rcc.core_hz(), 24_000_000);
        rcc.write(CFGR, 10 << 18 | 2);
        assert_eq!(rcc.core_hz(), 48_000_000);
        rcc.write(CFGR, 8 << 4);
        assert_eq!(rcc.core_hz(), 4_000_000);
        rcc.write(CFGR, u32::MAX);
        assert!(rcc.core_hz() > 0);
    }

    #[test]
    fn causes_of_resets_add_up() {
        let mut rcc = Rcc::new();
        rcc.reset(ResetCause::Power);
        rcc.reset(ResetCause::Software);
        assert_eq!(rcc.read(CSR) & 0x1c00_0000, 0x1c00_0000);
        rcc.write(CSR, REMOVE_FLAGS);
        assert_eq!(rcc.read(CSR), 0);
        rcc.reset(ResetCause::Software);
        assert_eq!(rcc.read(CSR) & 0x1c00_0000, 0x1400_0000);
    }
}
