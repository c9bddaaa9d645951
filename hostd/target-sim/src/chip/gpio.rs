//! One port of general-purpose pins.

use super::pin::{Drive, Level};
use crate::word::bit;

const MODER: u32 = 0x00;
const OTYPER: u32 = 0x04;
const OSPEEDR: u32 = 0x08;
const PUPDR: u32 = 0x0c;
const IDR: u32 = 0x10;
const ODR: u32 = 0x14;
const BSRR: u32 = 0x18;
const AFRL: u32 = 0x20;
const AFRH: u32 = 0x24;
const BRR: u32 = 0x28;

/// Two-bit fields of MODER.
const OUTPUT: u32 = 1;
const ALTERNATE: u32 = 2;

#[derive(Debug, Default)]
pub(crate) struct Gpio {
    mode: u32,
    open_drain: u32,
    speed: u32,
    pull: u32,
    output: u32,
    alternate: [u32; 2],
    /// Levels that alternate functions drive, one bit per pin.
    alternate_levels: u32,
    outside: [Level; 16],
    /// What was last reported to the outside.
    shown: [Drive; 16],
}

/// What a port's registers hold after a reset, where that is not zero: debug pins come up in their alternate
/// function.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PortReset {
    pub(crate) mode: u32,
    pub(crate) speed: u32,
    pub(crate) pull: u32,
}

impl Gpio {
    /// The state after reset.
    pub(crate) fn reset(&mut self, values: PortReset) {
        let (outside, shown) = (self.outside, self.shown);
        *self = Self {
            outside,
            shown,
            alternate_levels: u32::MAX,
            mode: values.mode,
            speed: values.speed,
            pull: values.pull,
            ..Self::default()
        };
    }

    pub(crate) fn read(&self, offset: u32) -> u32 {
        match offset {
            MODER => self.mode,
            OTYPER => self.open_drain,
            OSPEEDR => self.speed,
            PUPDR => self.pull,
            IDR => (0..16).fold(0, |word, pin| word | u32::from(self.level(pin)) << pin),
            ODR => self.output,
            AFRL => self.alternate[0],
            AFRH => self.alternate[1],
            _ => 0,
        }
    }

    pub(crate) fn write(&mut self, offset: u32, value: u32) {
        match offset {
            MODER => self.mode = value,
            OTYPER => self.open_drain = value & 0xffff,
            OSPEEDR => self.speed = value,
            PUPDR => self.pull = value,
            ODR => self.output = value & 0xffff,
            // If both are requested, setting wins over resetting.
            BSRR => self.output = self.output & !(value >> 16) | value & 0xffff,
            BRR => self.output &= !value,
            AFRL => self.alternate[0] = value,
            AFRH => self.alternate[1] = value,
            _ => {}
        }
    }

    /// The alternate function selected for a pin, if there is one.
    pub(crate) fn function(&self, pin: u32) -> Option<u32> {
        let is_alternate = self.mode >> (pin * 2) & 3 == ALTERNATE;
        is_alternate.then(|| self.alternate[(pin / 8) as usize] >> (pin % 8 * 4) & 15)
    }

    /// Sets the level that an alternate function drives.
    pub(crate) fn set_alternate_level(&mut self, pin: u32, level: bool) {
        self.alternate_levels = self.alternate_levels & !(1 << pin) | u32::from(level) << pin;
    }

    /// What the chip drives at a pin. `puts_out` says whether its alternate function is an output.
    fn drive(&self, pin: u32, puts_out: bool) -> Drive {
        let released = match self.pull >> (pin * 2) & 3 {
            1 => Drive::PullUp,
            2 => Drive::PullDown,
            _ => Drive::Float,
        };
        let level = match self.mode >> (pin * 2) & 3 {
            OUTPUT => bit(self.output, pin),
            ALTERNATE if puts_out => bit(self.alternate_levels, pin),
            ALTERNATE => return released,
            0 => return released,
            _ => return Drive::Float,
        };
        match (level, bit(self.open_drain, pin)) {
            (false, _) => Drive::Low,
            (true, false) => Drive::High,
            (true, true) => released,
        }
    }

    /// Pins whose drive has changed since it was last reported; they count as reported from now on.
    pub(crate) fn changes(&mut self, outputs: u32) -> impl Iterator<Item = (u8, Drive)> + '_ {
        (0..16u8).filter_map(move |pin| {
            let place = u32::from(pin);
            let drive = self.drive(place, bit(outputs, place));
            let shown = &mut self.shown[usize::from(pin)];
            (*shown != drive).then(|| {
                *shown = drive;
                (pin, drive)
            })
        })
    }

    /// What the chip reads at a pin.
    pub(crate) fn level(&self, pin: u32) -> bool {
        let pin = (pin & 15) as usize;
        self.shown[pin].reads(self.outside[pin])
    }

    pub(crate) fn set_outside(&mut self, pin: u8, level: Level) {
        self.outside[usize::from(pin & 15)] = level;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(gpio: &mut Gpio) -> Vec<(u8, Drive)> {
        gpio.changes(0).collect()
    }

    #[test]
    fn a_push_pull_output_shows_its_level() {
        let mut gpio = Gpio::default();
        gpio.write(MODER, 1 << 10);
        assert_eq!(shown(&mut gpio), [(5, Drive::Low)]);
        gpio.write(BSRR, 1 << 5);
        assert_eq!(shown(&mut gpio), [(5, Drive::High)]);
        assert_eq!(gpio.read(IDR), 1 << 5);
        gpio.write(BSRR, 1 << 5 | 1 << 21);
        assert_eq!(shown(&mut gpio), [], "set wins");
        gpio.write(BRR, 1 << 5);
        assert_eq!(shown(&mut gpio), [(5, Drive::Low)]);
    }

    #[test]
    fn an_open_drain_lets_go_and_reads_the_outside() {
        let mut gpio = Gpio::default();
        gpio.write(OTYPER, 1 << 6);
        gpio.write(ODR, 1 << 6);
        gpio.write(MODER, 1 << 12);
        assert_eq!(shown(&mut gpio), []);
        assert!(!gpio.level(6));
        gpio.set_outside(6, Level::High);
        assert!(gpio.level(6));
        gpio.write(ODR, 0);
        assert_eq!(shown(&mut gpio), [(6, Drive::Low)]);
        assert!(!gpio.level(6));
    }

    #[test]
    fn pulls_hold_an_open_pin() {
        let mut gpio = Gpio::default();
        gpio.write(PUPDR, 1);
        assert_eq!(shown(&mut gpio), [(0, Drive::PullUp)]);
        assert_eq!(gpio.read(IDR), 1);
        gpio.set_outside(0, Level::Low);
        assert_eq!(gpio.read(IDR), 0);
    }

    #[test]
    fn an_alternate_output_is_driven_by_its_peripheral() {
        let mut gpio = Gpio::default();
        gpio.reset(PortReset {
            mode: 0x2800_0000,
            speed: 0x0c00_0000,
            pull: 0x2400_0000,
        });
        gpio.write(MODER, ALTERNATE << 18);
        gpio.write(AFRH, 1 << 4);
        assert_eq!(gpio.function(9), Some(1));
        assert_eq!(
            gpio.changes(1 << 9).collect::<Vec<_>>(),
            [(9, Drive::High), (13, Drive::PullUp), (14, Drive::PullDown)]
        );
        gpio.set_alternate_level(9, false);
        assert_eq!(gpio.changes(1 << 9).collect::<Vec<_>>(), [(9, Drive::Low)]);
    }
}
