//! Listening to the bus: everything that happened on the two lines since the last time, in order.

use super::wire::Output;
use super::{Lines, Sensor};
use crate::levels::Levels;
use crate::pins::{Pins, bit};

/// The span of time that a sensor has not evaluated yet.
pub(crate) struct Unheard {
    pub(crate) lines: Lines,
    pub(crate) from_ns: u64,
}

impl Sensor {
    /// The span that it has not evaluated up to an instant, if there is a sensor.
    pub(crate) fn unheard(&self, to_ns: u64) -> Option<Unheard> {
        let armed = self.armed.as_ref();
        let armed = armed.filter(|armed| armed.seen_ns <= to_ns)?;
        Some(Unheard {
            lines: armed.lines,
            from_ns: armed.seen_ns,
        })
    }

    /// Follows the levels of its lines without its own pull, from one instant to another, and
    /// answers on the pins.
    pub(crate) fn hear(
        &mut self,
        mut levels: Levels,
        (from_ns, to_ns): (u64, u64),
        pins: &mut Pins,
    ) {
        let Some(armed) = &mut self.armed else {
            return;
        };
        let (scl, sda) = (bit(armed.lines.scl), bit(armed.lines.sda));
        let mut at_ns = from_ns;
        loop {
            let word = levels.word();
            let (scl, sda) = (word & scl != 0, word & sda != 0);
            let output = armed.wire.lines(&mut armed.registers, scl, sda, at_ns);
            if let Some(output) = output {
                pull_sda(pins, armed.lines.sda, output, armed.wire.lets_go_ns());
            }
            let next_ns = [levels.next_ns(), armed.wire.lets_go_ns()];
            let next_ns = next_ns.into_iter().flatten().min();
            let Some(next_ns) = next_ns.filter(|next| *next <= to_ns) else {
                break;
            };
            at_ns = next_ns;
            levels.advance_to(at_ns);
        }
        armed.seen_ns = to_ns;
        let stops = armed.wire.take_stops();
        self.transactions = self.transactions.wrapping_add(stops);
    }
}

/// Puts the slave's pull on the line, and its release in case nothing else happens.
fn pull_sda(pins: &mut Pins, sda: u8, output: Output, lets_go_ns: Option<u64>) {
    let level = output.low.then_some(false);
    pins.drive(sda, level, output.at_ns);
    if let Some(end_ns) = lets_go_ns.filter(|_| output.low) {
        pins.drive(sda, None, end_ns);
    }
}
