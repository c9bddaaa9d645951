//! Characters of a serial line, from its changes of level.

use crate::timing::{Parity, Timing};

/// One character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Character {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) byte: u8,
    pub(crate) fault: Option<Fault>,
}

/// What is wrong with a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    Parity,
    /// A stop bit is low.
    Framing,
}

/// A character that has begun.
#[derive(Debug, Clone, Copy)]
struct Open {
    start: u64,
    /// Bits so far, the first one lowest.
    bits: u32,
    count: u32,
}

/// A receiver.
#[derive(Debug)]
pub(crate) struct Receiver {
    /// Level of the line, high when idle; none before the first sample.
    level: Option<bool>,
    open: Option<Open>,
}

impl Receiver {
    pub(crate) fn new() -> Self {
        Self {
            level: None,
            open: None,
        }
    }

    /// Since when a character has been on its way.
    pub(crate) fn open_since(&self) -> Option<u64> {
        self.open.map(|open| open.start)
    }

    /// The line keeps its level up to sample `at`, from which on it has the next one; none at the end of the capture. The
    /// character that ends by then.
    pub(crate) fn advance(
        &mut self,
        at: u64,
        next: Option<bool>,
        timing: &Timing,
    ) -> Option<Character> {
        let level = self.level.unwrap_or(true);
        let ended = self.sample(at, level, timing);
        if let Some(next) = next {
            let falls = level && !next && self.level.is_some();
            if falls && self.open.is_none() {
                self.open = Some(Open {
                    start: at,
                    bits: 0,
                    count: 0,
                });
            }
            self.level = Some(next);
        }
        ended
    }

    /// Take the bits whose middle lies before `at`.
    fn sample(&mut self, at: u64, level: bool, timing: &Timing) -> Option<Character> {
        let open = self.open.as_mut()?;
        while timing.middle(open.start, open.count) < at {
            // Bit 0 is the start bit; a pulse that is shorter is noise.
            if open.count == 0 && level {
                self.open = None;
                return None;
            }
            open.bits |= u32::from(level) << open.count;
            open.count += 1;
            if open.count > timing.bits {
                let mut ended = character(open.start, open.bits, timing);
                // A fast sender's next character may begin a bit early.
                ended.end = ended.end.min(at);
                self.open = None;
                return Some(ended);
            }
        }
        None
    }
}

/// What the bits of a character come to, the start bit lowest.
fn character(start: u64, bits: u32, timing: &Timing) -> Character {
    let [byte, ..] = (bits >> 1).to_le_bytes();
    let has_parity = timing.parity != Parity::None;
    let stops = bits >> (9 + u32::from(has_parity));
    let stops_wanted = (1 << (timing.bits - 8 - u32::from(has_parity))) - 1;
    let ones = byte.count_ones() + (bits >> 9 & 1);
    let parity_fails = match timing.parity {
        Parity::None => false,
        Parity::Even => !ones.is_multiple_of(2),
        Parity::Odd => ones.is_multiple_of(2),
    };
    let fault = if stops & stops_wanted != stops_wanted {
        Some(Fault::Framing)
    } else {
        parity_fails.then_some(Fault::Parity)
    };
    Character {
        start,
        end: timing.end(start),
        byte,
        fault,
    }
}
