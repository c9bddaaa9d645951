//! The channel on which a receiver sends: UART bits, computed one change at a time.

use std::sync::Arc;

use super::super::pins::{FRAME_BITS, bit, bits_ns};
use super::super::wave::Wave;
use super::session::Session;

/// A position in the data that a session sends. Between bytes the channel is high because of its
/// claim.
pub(crate) struct Line {
    session: Arc<Session>,
    /// The epoch that is being sent, or that was sent last.
    epoch: Option<u64>,
    text: Vec<u8>,
    /// Position in its bits; their number once all are sent.
    position: u64,
    high: bool,
    next_ns: Option<u64>,
}

impl Line {
    /// What is on the channel at an instant.
    pub(super) fn new(session: Arc<Session>, at_ns: u64) -> Self {
        let due = session.epoch_at(at_ns);
        let epoch = due.and_then(|due| session.last_sent(due));
        let mut line = Self {
            text: epoch.map_or(Vec::new(), |epoch| session.text(epoch)),
            session,
            epoch,
            position: 0,
            high: true,
            next_ns: None,
        };
        if let Some(epoch) = epoch {
            let elapsed_ns = at_ns - line.session.epoch_ns(epoch);
            let baud = line.session.settings.baud;
            // Bits begin at rounded-down times; the current one is the last one that has begun.
            let near = u128::from(elapsed_ns) * u128::from(baud) / 1_000_000_000;
            let near = u64::try_from(near).unwrap_or(u64::MAX).min(line.bits());
            let begun = near + u64::from(bits_ns(near + 1, baud) <= elapsed_ns);
            line.position = begun.min(line.bits());
            line.high = line.level(line.position);
        }
        line.next_ns = line.time_of_next();
        line
    }

    fn bits(&self) -> u64 {
        self.text.len() as u64 * FRAME_BITS
    }

    /// The level of a bit; high after the last one.
    fn level(&self, position: u64) -> bool {
        let index = usize::try_from(position / FRAME_BITS).unwrap_or(usize::MAX);
        let Some(byte) = self.text.get(index) else {
            return true;
        };
        // A start bit (low), eight data bits from the lowest on, a stop bit (high).
        let frame = u16::from(*byte) << 1 | 0x200;
        frame >> (position % FRAME_BITS) & 1 == 1
    }

    /// The next bit of this epoch with a different level.
    fn next_position(&self) -> Option<u64> {
        (self.position + 1..=self.bits()).find(|at| self.level(*at) != self.high)
    }

    fn time_of_next(&self) -> Option<u64> {
        let end_ns = self.session.end_ns();
        let next_ns = match (self.epoch, self.next_position()) {
            (Some(epoch), Some(position)) => {
                self.session.epoch_ns(epoch) + bits_ns(position, self.session.settings.baud)
            }
            _ => self.session.epoch_ns(self.session.next_sent(self.epoch)),
        };
        match end_ns {
            Some(end_ns) if next_ns >= end_ns => (!self.high).then_some(end_ns),
            _ => Some(next_ns),
        }
    }
}

impl Wave for Line {
    fn drive(&self) -> (u16, u16) {
        let driven = if self.high {
            0
        } else {
            bit(self.session.settings.tx)
        };
        (driven, 0)
    }

    fn next_ns(&self) -> Option<u64> {
        self.next_ns
    }

    fn advance(&mut self) {
        let Some(at_ns) = self.next_ns else { return };
        if self.session.has_ended(at_ns) {
            self.high = true;
            self.next_ns = None;
            return;
        }
        if let (Some(_), Some(position)) = (self.epoch, self.next_position()) {
            self.position = position;
        } else {
            let epoch = self.session.next_sent(self.epoch);
            self.text = self.session.text(epoch);
            self.epoch = Some(epoch);
            self.position = 0;
        }
        self.high = self.level(self.position);
        self.next_ns = self.time_of_next();
    }
}
