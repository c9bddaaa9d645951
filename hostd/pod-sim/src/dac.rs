//! The DAC over time: a held code, a waveform, a loop. Orders are recorded with their instants; a
//! walk along them shows what the output does.

use std::sync::Arc;

mod walk;

pub(crate) use walk::{Player, Walk};

use super::control::Loop;
use super::frontend::Wires;
use super::timeline::{Pieces, Timeline};

/// Codes that are played repeatedly.
#[derive(Debug, PartialEq)]
pub(crate) struct Wave {
    pub(crate) codes: Vec<u16>,
    /// Ticks of the 48 MHz clock per code.
    pub(crate) divider: u32,
}

/// What the DAC outputs.
#[derive(Debug, Clone)]
pub(crate) enum Output {
    Hold(u16),
    /// Holds the code that it had before.
    Freeze,
    Play {
        wave: Arc<Wave>,
        start_ns: u64,
    },
    Regulate(Box<Loop>),
}

/// One order for the output; its number distinguishes it from every other.
#[derive(Debug, Clone)]
pub(crate) struct Piece {
    number: u64,
    output: Output,
}

/// A waveform that starts with the next capture.
#[derive(Debug)]
struct Armed {
    wave: Arc<Wave>,
    duration_ns: Option<u64>,
}

#[derive(Debug)]
pub(crate) struct Dac {
    output: Timeline<Piece>,
    /// Number of pieces so far.
    pieces: u64,
    /// The output up to the last instant that cannot change any more.
    walk: Walk,
    armed: Option<Armed>,
}

impl Dac {
    pub(crate) fn new() -> Self {
        Self {
            output: Timeline::new(Piece {
                number: 0,
                output: Output::Hold(0),
            }),
            pieces: 0,
            walk: Walk::holding(0),
            armed: None,
        }
    }

    fn set(&mut self, at_ns: u64, output: Output) {
        self.pieces += 1;
        let number = self.pieces;
        self.output.set(at_ns, Piece { number, output });
    }

    /// The output, from where it is settled up to an instant.
    pub(crate) fn player(&self, wires: impl FnOnce(u64) -> Wires, to_ns: u64) -> Player {
        let from_ns = self.walk.at_ns();
        let pieces = Pieces::new(self.output.window(from_ns, to_ns));
        Player::new(self.walk.clone(), pieces, wires(from_ns))
    }

    /// Stores a walk up to an instant before which nothing can change, and forgets everything
    /// before that.
    pub(crate) fn settle(&mut self, walk: Walk) {
        self.output.prune(walk.at_ns());
        self.walk = walk;
    }

    /// The instant up to which the output is settled.
    pub(crate) fn settled_ns(&self) -> u64 {
        self.walk.at_ns()
    }

    /// Returns to the low end, with nothing armed.
    pub(crate) fn reboot(&mut self, now_ns: u64) {
        self.hold(0, now_ns);
    }

    pub(crate) fn hold(&mut self, code: u16, now_ns: u64) {
        self.armed = None;
        self.set(now_ns, Output::Hold(code));
    }

    /// From now on a control loop sets the level.
    pub(crate) fn regulate(&mut self, order: Loop, now_ns: u64) {
        self.armed = None;
        self.set(now_ns, Output::Regulate(Box::new(order)));
    }

    /// From `at_ns` on, holds the level that it has then.
    pub(crate) fn freeze(&mut self, at_ns: u64) {
        self.set(at_ns, Output::Freeze);
    }

    /// Plays from `at_ns` on, for a while or until stopped.
    pub(crate) fn play(&mut self, wave: Arc<Wave>, at_ns: u64, duration_ns: Option<u64>) {
        self.armed = None;
        let start_ns = at_ns;
        self.set(at_ns, Output::Play { wave, start_ns });
        if let Some(duration_ns) = duration_ns {
            self.freeze(at_ns.saturating_add(duration_ns));
        }
    }

    /// Holds the current level until the next capture starts the waveform.
    pub(crate) fn arm(&mut self, wave: Arc<Wave>, now_ns: u64, duration_ns: Option<u64>) {
        self.freeze(now_ns);
        self.armed = Some(Armed { wave, duration_ns });
    }

    /// A capture starts at this instant, and so does an armed waveform.
    pub(crate) fn capture_starts(&mut self, t0_ns: u64) {
        if let Some(Armed { wave, duration_ns }) = self.armed.take() {
            self.play(wave, t0_ns, duration_ns);
        }
    }

    /// Drops what was armed for a capture that will not happen.
    pub(crate) fn disarm(&mut self) {
        self.armed = None;
    }

    /// `dac_stop`: holds the last level.
    pub(crate) fn stop(&mut self, now_ns: u64) {
        self.armed = None;
        self.freeze(now_ns);
    }
}

#[cfg(test)]
mod tests;
