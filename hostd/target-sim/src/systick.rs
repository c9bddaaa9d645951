//! SysTick, computed from the cycle count instead of counted: it stores only the next passage through zero.

use crate::bus::NEVER;
use crate::word::{bit, low_word};

const ENABLE: u32 = 1;
const TICKINT: u32 = 2;
const CLKSOURCE: u32 = 4;
const MASK_24: u32 = 0x00ff_ffff;

/// Cycles per tick with the external reference clock, which in these families is an eighth of the core's
/// clock.
const REFERENCE_DIVIDER: u64 = 8;

#[derive(Debug, Default)]
pub(crate) struct SysTick {
    /// What the calibration register reads as.
    calibration: u32,
    control: u32,
    reload: u32,
    counted: bool,
    /// The value while the counter is stopped.
    value: u32,
    /// The cycle of the next passage from 1 to 0 while the counter runs.
    zero_at: Option<u64>,
}

impl SysTick {
    pub(crate) fn new(calibration: u32) -> Self {
        Self {
            calibration,
            ..Self::default()
        }
    }

    fn cycles_per_tick(&self) -> u64 {
        if self.control & CLKSOURCE == 0 {
            REFERENCE_DIVIDER
        } else {
            1
        }
    }

    /// Starts counting from `value`. The tick after zero loads the reload value, so a counter that starts
    /// at zero needs one more tick.
    fn start(&mut self, now: u64) {
        let ticks = if self.value == 0 {
            u64::from(self.reload) + 1
        } else {
            u64::from(self.value)
        };
        let never = self.value == 0 && self.reload == 0;
        self.zero_at = (!never).then(|| now + ticks * self.cycles_per_tick());
    }

    /// Current value.
    fn current(&self, now: u64) -> u32 {
        let Some(zero_at) = self.zero_at else {
            return self.value;
        };
        let ticks = zero_at.saturating_sub(now).div_ceil(self.cycles_per_tick());
        // Just after zero, the distance to the next zero is one more than the largest value.
        if self.value == 0 && ticks > u64::from(self.reload) {
            0
        } else {
            low_word(ticks)
        }
    }

    /// The cycle of its next passage through zero.
    pub(crate) fn next_event(&self) -> u64 {
        self.zero_at.unwrap_or(NEVER)
    }

    /// Counts up to `now`. Returns true if the exception becomes pending.
    pub(crate) fn advance(&mut self, now: u64) -> bool {
        let Some(zero_at) = self.zero_at.filter(|zero_at| *zero_at <= now) else {
            return false;
        };
        self.counted = true;
        self.value = 0;
        let period = (u64::from(self.reload) + 1) * self.cycles_per_tick();
        let passed = (now - zero_at) / period;
        self.zero_at = (self.reload != 0).then(|| zero_at + (passed + 1) * period);
        self.control & TICKINT != 0
    }

    /// The counter stops while a debugger halts the core.
    pub(crate) fn postpone(&mut self, cycles: u64) {
        if let Some(zero_at) = &mut self.zero_at {
            *zero_at += cycles;
        }
    }

    /// Reads the register at `offset` (0, 4, 8, 12).
    pub(crate) fn read(&mut self, now: u64, offset: u32) -> u32 {
        match offset {
            0 => self.control | u32::from(std::mem::take(&mut self.counted)) << 16,
            4 => self.reload,
            8 => self.current(now),
            _ => self.calibration,
        }
    }

    /// Writes the register at `offset`.
    pub(crate) fn write(&mut self, now: u64, offset: u32, value: u32) {
        match offset {
            0 => {
                self.value = self.current(now);
                self.zero_at = None;
                self.control = value & (ENABLE | TICKINT | CLKSOURCE);
                if bit(value, 0) {
                    self.start(now);
                }
            }
            4 => self.reload = value & MASK_24,
            8 => {
                self.value = 0;
                self.counted = false;
                if self.control & ENABLE != 0 {
                    self.start(now);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn running(reload: u32) -> SysTick {
        let mut tick = SysTick::default();
        tick.write(0, 4, reload);
        tick.write(0, 8, 1);
        tick.write(0, 0, ENABLE | TICKINT | CLKSOURCE);
        tick
    }

    #[test]
    fn the_period_is_the_reload_value_plus_one() {
        let mut tick = running(999);
        assert_eq!(tick.next_event(), 1000);
        assert!(!tick.advance(999));
        assert!(tick.advance(1000));
        assert_eq!(tick.next_event(), 2000);
        assert_eq!(tick.read(1000, 8), 0);
        assert_eq!(tick.read(1001, 8), 999);
        assert_eq!(tick.read(1999, 8), 1);
    }

    #[test]
    fn the_count_flag_is_cleared_by_reading_it() {
        let mut tick = running(9);
        tick.advance(10);
        assert_eq!(tick.read(10, 0) >> 16, 1);
        assert_eq!(tick.read(10, 0) >> 16, 0);
    }

    #[test]
    fn ticks_missed_in_one_go_count_once() {
        let mut tick = running(9);
        assert!(tick.advance(55));
        assert_eq!(tick.next_event(), 60);
    }

    #[test]
    fn the_reference_clock_is_an_eighth() {
        let mut tick = running(9);
        tick.write(0, 0, ENABLE);
        assert_eq!(tick.next_event(), 80);
        assert!(!tick.advance(80), "without TICKINT nothing is pended");
    }

    #[test]
    fn stopping_keeps_the_value_and_a_zero_reload_stops_it() {
        let mut tick = running(100);
        tick.write(41, 0, CLKSOURCE);
        assert_eq!(tick.next_event(), NEVER);
        assert_eq!(tick.read(1000, 8), 60);
        tick.write(1000, 4, 0);
        tick.write(1000, 0, ENABLE | CLKSOURCE);
        assert_eq!(tick.next_event(), 1060);
        tick.advance(1060);
        assert_eq!(tick.next_event(), NEVER);
        assert_eq!(tick.read(2000, 8), 0);
    }
}
