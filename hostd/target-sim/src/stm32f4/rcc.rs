//! Reset and clock control: oscillators that are ready as soon as they are on, the system clock, which
//! peripherals are clocked, and the cause of the last reset.

use super::HSI_HZ;
use crate::chip::ResetCause;
use crate::word::bit;

const CR: u32 = 0x00;
const PLLCFGR: u32 = 0x04;
const CFGR: u32 = 0x08;
const AHB1ENR: u32 = 0x30;
const APB1ENR: u32 = 0x40;
const APB2ENR: u32 = 0x44;
const BDCR: u32 = 0x70;
const CSR: u32 = 0x74;
const LAST: u32 = 0x94;
const COUNT: usize = (LAST / 4 + 1) as usize;

const RESET_VALUES: [(u32, u32); 5] = [
    (CR, 0x83),
    (PLLCFGR, 0x2400_3010),
    (AHB1ENR, 0x0010_0000),
    (0x84, 0x2400_3000),
    (0x88, 0x2400_3000),
];
/// Oscillator and PLL enables, each with its ready flag one bit above.
const CR_ENABLES: u32 = 1 | 1 << 16 | 1 << 24 | 1 << 26 | 1 << 28;
/// A crystal of this frequency is fitted.
const HSE_HZ: u32 = 8_000_000;
const REMOVE_FLAGS: u32 = 1 << 24;
const FLAGS: u32 = 0xfe00_0000;

/// The bits of `RCC_CSR` that tell what reset the chip. Every reset pulls the pin, too.
const fn flags(cause: ResetCause) -> u32 {
    const PIN: u32 = 1 << 26;
    match cause {
        ResetCause::Pin | ResetCause::OptionLoader => PIN,
        ResetCause::Software => 1 << 28 | PIN,
        ResetCause::Power => 1 << 27 | PIN | 1 << 25,
    }
}

#[derive(Debug)]
pub(super) struct Rcc {
    registers: [u32; COUNT],
}

impl Rcc {
    pub(super) fn new() -> Self {
        let mut registers = [0; COUNT];
        for (offset, value) in RESET_VALUES {
            registers[(offset / 4) as usize] = value;
        }
        Self { registers }
    }

    /// Returns to the values after reset; the causes of resets accumulate until software clears them.
    pub(super) fn reset(&mut self, cause: ResetCause) {
        let before = match cause {
            ResetCause::Power => 0,
            _ => self.get(CSR) & FLAGS,
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
                let enables = value & CR_ENABLES;
                value & 0x150d_00f9 & !(CR_ENABLES << 1) | enables | enables << 1
            }
            // The switch takes effect at once: SWS follows SW.
            CFGR => value & !0xc | (value & 3) << 2,
            BDCR => value & !2 | (value & 1) << 1,
            CSR => {
                let kept = if value & REMOVE_FLAGS == 0 {
                    old & FLAGS
                } else {
                    0
                };
                kept | value & 1 | (value & 1) << 1
            }
            _ => value,
        };
        if let Some(register) = self.registers.get_mut((offset / 4) as usize) {
            *register = new;
        }
    }

    /// Frequency of the core, in hertz.
    pub(super) fn core_hz(&self) -> u32 {
        let (configuration, pll) = (self.get(CFGR), self.get(PLLCFGR));
        let system = match configuration >> 2 & 3 {
            1 => u64::from(HSE_HZ),
            2 => {
                let source = if bit(pll, 22) { HSE_HZ } else { HSI_HZ };
                let input = u64::from(source) / u64::from((pll & 63).max(2));
                let post = u64::from((pll >> 16 & 3) * 2 + 2);
                input * u64::from((pll >> 6 & 511).max(50)) / post
            }
            _ => u64::from(HSI_HZ),
        };
        let shift = match configuration >> 4 & 15 {
            0..=7 => 0,
            divider @ 8..=11 => divider - 7,
            divider => divider - 6,
        };
        u32::try_from(system >> shift).unwrap_or(HSI_HZ).max(1)
    }

    fn divider(&self, place: u32) -> u32 {
        match self.get(CFGR) >> place & 7 {
            0..=3 => 1,
            divider => 2 << (divider & 3),
        }
    }

    /// Core cycles per cycle of the first peripheral bus.
    pub(super) fn slow_divider(&self) -> u32 {
        self.divider(10)
    }

    /// Core cycles per cycle of the second peripheral bus.
    pub(super) fn fast_divider(&self) -> u32 {
        self.divider(13)
    }

    /// Whether a port is clocked: 0 for A up to 7 for H.
    pub(super) fn clocks_port(&self, port: u32) -> bool {
        bit(self.get(AHB1ENR), port)
    }

    pub(super) fn clocks_usart1(&self) -> bool {
        bit(self.get(APB2ENR), 4)
    }

    pub(super) fn clocks_syscfg(&self) -> bool {
        bit(self.get(APB2ENR), 14)
    }

    pub(super) fn clocks_usart2(&self) -> bool {
        bit(self.get(APB1ENR), 17)
    }

    pub(super) fn clocks_i2c1(&self) -> bool {
        bit(self.get(APB1ENR), 21)
    }

    pub(super) fn clocks_power(&self) -> bool {
        bit(self.get(APB1ENR), 28)
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
    fn the_usual_frequencies_come_out() {
        let mut rcc = Rcc::new();
        assert_eq!(rcc.core_hz(), 16_000_000);
        // 16 MHz / 8 * 180 / 2, as vendors' examples have it.
        rcc.write(PLLCFGR, 8 | 180 << 6);
        rcc.write(CFGR, 2);
        assert_eq!(rcc.core_hz(), 180_000_000);
        // OpenOCD: 16 MHz / 8 * 128 / 4.
        rcc.write(PLLCFGR, 0x0801_2008);
        assert_eq!(rcc.core_hz(), 64_000_000);
        rcc.write(CFGR, 2 | 5 << 10 | 4 << 13 | 8 << 4);
        assert_eq!((rcc.slow_divider(), rcc.fast_divider()), (4, 2));
        assert_eq!(rcc.core_hz(), 32_000_000);
        rcc.write(PLLCFGR, u32::MAX);
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
