//! Listening to the bus: everything that happened on the two lines since the last look, in order.

use super::wire::Output;
use crate::lines::Levels;
use crate::pins::bit;
use crate::world::World;

/// A played recording goes on for ever, so the sensor hears only this much of one that nobody asked
/// about for longer. What clients and simulated targets do is always heard in full.
const PLAYED_NS_MAX: u64 = 1_000_000_000;

impl World {
    /// Brings the sensor up to an instant.
    pub(crate) fn listen(&mut self, to_ns: u64) {
        let Some(mut armed) = self.sensor.armed.take() else {
            return;
        };
        if armed.seen_ns <= to_ns {
            let (scl, sda) = (bit(armed.lines.scl), bit(armed.lines.sda));
            let mut at_ns = armed.seen_ns;
            if self.is_played(scl | sda) {
                at_ns = at_ns.max(to_ns.saturating_sub(PLAYED_NS_MAX));
            }
            let mut levels = Levels::of(self, at_ns, to_ns, scl | sda, sda);
            loop {
                let word = levels.word();
                let (scl, sda) = (word & scl != 0, word & sda != 0);
                let output = armed.wire.lines(&mut armed.registers, scl, sda, at_ns);
                if let Some(output) = output {
                    self.pull_sda(armed.lines.sda, output, armed.wire.lets_go_ns());
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
        }
        let stops = armed.wire.take_stops();
        self.sensor.transactions = self.sensor.transactions.wrapping_add(stops);
        self.sensor.armed = Some(armed);
    }

    fn is_played(&self, channels: u16) -> bool {
        let playback = self.config.playback.as_ref();
        playback.is_some_and(|playback| playback.mask() & channels != 0)
    }

    /// Puts the slave's pull on the line, with the release that follows if nothing else happens.
    fn pull_sda(&mut self, sda: u8, output: Output, lets_go_ns: Option<u64>) {
        let level = output.low.then_some(false);
        self.pins.drive(sda, level, output.at_ns);
        if let Some(end_ns) = lets_go_ns.filter(|_| output.low) {
            self.pins.drive(sda, None, end_ns);
        }
    }
}
