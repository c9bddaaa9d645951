//! Future changes of what the outside drives at the pins, with their times.

use std::collections::VecDeque;

use crate::bus::NEVER;
use crate::chip::{Level, Pin};

/// Maximum number of pending input changes: with more, the outside is too far ahead of the target.
pub const INPUTS_MAX: usize = 1 << 20;

/// A change of what the outside drives at a pin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputChange {
    /// When, in nanoseconds since the target was made.
    pub at_ns: u64,
    /// Which pin.
    pub pin: Pin,
    /// What the outside drives there from then on.
    pub level: Level,
}

/// Pending changes of inputs, in chronological order.
#[derive(Debug, Default)]
pub struct Inputs {
    waiting: VecDeque<InputChange>,
}

impl Inputs {
    /// Adds a change. Of two at the same time, the one added later counts. A time in the past means now.
    /// Returns false if too many are pending and it was dropped.
    pub fn push(&mut self, change: InputChange) -> bool {
        if self.waiting.len() >= INPUTS_MAX {
            return false;
        }
        let place = self
            .waiting
            .partition_point(|other| other.at_ns <= change.at_ns);
        self.waiting.insert(place, change);
        true
    }

    /// Adds the edges of words as a UART sends them (least significant bit first, no parity, one stop bit),
    /// one after the other from `at_ns` on. Returns the time at which the line is idle again, in
    /// nanoseconds.
    pub fn push_uart(&mut self, pin: Pin, at_ns: u64, baud: u32, bytes: &[u8]) -> u64 {
        let bit_start = |count: u64| at_ns + count * 1_000_000_000 / u64::from(baud.max(1));
        let mut count = 0;
        for byte in bytes {
            let frame = u16::from(*byte) << 1 | 1 << 9;
            let mut level = true;
            for place in 0..10 {
                let next = frame >> place & 1 == 1;
                if next != level {
                    let drive = if next { Level::High } else { Level::Low };
                    self.push(InputChange {
                        at_ns: bit_start(count),
                        pin,
                        level: drive,
                    });
                    level = next;
                }
                count += 1;
            }
        }
        bit_start(count)
    }

    pub(super) fn next_at(&self) -> u64 {
        self.waiting.front().map_or(NEVER, |change| change.at_ns)
    }

    pub(super) fn take(&mut self, up_to_ns: u64) -> Option<InputChange> {
        let is_due = self.next_at() <= up_to_ns;
        is_due.then(|| self.waiting.pop_front()).flatten()
    }
}
