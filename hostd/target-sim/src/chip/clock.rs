//! Converts core cycles to nanoseconds and back, across changes of the frequency.

const NS_PER_S: u128 = 1_000_000_000;

/// The relation of core cycles to nanoseconds since the target was made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    hz: u32,
    /// With which it starts when the power comes on.
    start_hz: u32,
    /// Where the current frequency began.
    since_cycle: u64,
    since_ns: u64,
}

fn narrow(value: u128) -> u64 {
    u64::try_from(value).unwrap_or(u64::MAX)
}

impl Clock {
    pub(crate) fn new(start_hz: u32) -> Self {
        Self {
            hz: start_hz,
            start_hz,
            since_cycle: 0,
            since_ns: 0,
        }
    }

    pub(crate) fn hz(&self) -> u32 {
        self.hz
    }

    /// The time of a cycle in nanoseconds, rounded down.
    pub(crate) fn ns(&self, cycle: u64) -> u64 {
        let cycles = u128::from(cycle.saturating_sub(self.since_cycle));
        narrow(u128::from(self.since_ns) + cycles * NS_PER_S / u128::from(self.hz))
    }

    /// The first cycle at or after a time.
    pub(crate) fn cycle(&self, ns: u64) -> u64 {
        let passed = u128::from(ns.saturating_sub(self.since_ns));
        let cycles = (passed * u128::from(self.hz)).div_ceil(NS_PER_S);
        narrow(u128::from(self.since_cycle) + cycles)
    }

    /// A duration in nanoseconds, at the current frequency.
    pub(crate) fn duration_ns(&self, cycles: u64) -> u64 {
        narrow(u128::from(cycles) * NS_PER_S / u128::from(self.hz))
    }

    /// A duration in cycles, rounded up.
    pub(crate) fn cycles(&self, ns: u64) -> u64 {
        narrow((u128::from(ns) * u128::from(self.hz)).div_ceil(NS_PER_S))
    }

    /// From cycle `now` on, the core runs at `hz`.
    pub(crate) fn change(&mut self, now: u64, hz: u32) {
        if hz != self.hz && hz != 0 {
            self.since_ns = self.ns(now);
            self.since_cycle = now;
            self.hz = hz;
        }
    }

    /// Realigns the cycle counter with the time, which may have passed while the chip was without power.
    pub(crate) fn restart(&mut self, now: u64, ns: u64) {
        *self = Self {
            hz: self.start_hz,
            start_hz: self.start_hz,
            since_cycle: now,
            since_ns: ns.max(self.ns(now)),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cycle_of_8_mhz_is_125_ns() {
        let clock = Clock::new(8_000_000);
        assert_eq!(clock.ns(8), 1000);
        assert_eq!(clock.cycle(1000), 8);
        assert_eq!(clock.cycle(1001), 9);
    }

    #[test]
    fn time_does_not_jump_when_the_frequency_changes() {
        let mut clock = Clock::new(8_000_000);
        clock.change(8_000, 48_000_000);
        assert_eq!(clock.ns(8_000), 1_000_000);
        assert_eq!(clock.ns(8_048), 1_001_000);
        assert_eq!(clock.cycle(1_001_000), 8_048);
        for cycle in 8_000..9_000 {
            assert_eq!(clock.cycle(clock.ns(cycle)), cycle);
        }
    }

    #[test]
    fn after_a_power_cut_it_is_8_mhz_again() {
        let mut clock = Clock::new(8_000_000);
        clock.change(8_000, 48_000_000);
        clock.restart(8_100, 5_000_000);
        assert_eq!(clock.ns(8_108), 5_001_000);
    }
}
