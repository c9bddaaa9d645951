//! Exact decoding of several chunks at once.
//!
//! A UART has no symbol that resets the receiver; in back-to-back traffic there may not even be an
//! idle gap. So each chunk is decoded as if the line had been idle before it, and records its state
//! at regular checkpoints. The join decodes the chunk again from the true state, but only until
//! both states agree at a checkpoint: from there on they would do the same, so the rest of the
//! guess is right. With random traffic they agree within a few frames.

use super::line::{Event, Finder, Machine};
use super::timing::Timing;
use crate::planes::{CodePath, Taps, run};

/// Samples between two checkpoints.
const CHECKPOINT: usize = 16 * 1024;

/// One line of the raw samples, and how to read it.
#[derive(Clone, Copy)]
pub(super) struct Wire<'a> {
    pub(super) timing: &'a Timing,
    pub(super) taps: &'a Taps,
    pub(super) lane: usize,
    pub(super) flip: u64,
    pub(super) path: CodePath,
}

impl Wire<'_> {
    /// Level of the line (idle is 1) in levels of the form of `Taps::levels`.
    pub(super) fn level(&self, levels: u64) -> u64 {
        (levels >> self.lane ^ self.flip) & 1
    }

    /// Runs the machine over `raw`; `check` may end it at a checkpoint.
    pub(super) fn run(
        &self,
        raw: &[u8],
        at: u64,
        machine: Machine,
        out: &mut Vec<Event>,
        mut check: impl FnMut(usize, u64, &Machine, usize) -> bool,
    ) -> Machine {
        let &Self {
            timing,
            taps,
            lane,
            flip,
            path,
        } = self;
        let mut finder = Finder {
            timing,
            lane,
            flip,
            machine,
            out,
        };
        let step = CHECKPOINT * taps.unit();
        let mut at = at;
        for (index, piece) in raw.chunks(step).enumerate() {
            run(piece, taps, at, &mut finder, path);
            at += (piece.len() / taps.unit()) as u64;
            if check(index, at, &finder.machine, finder.out.len()) {
                break;
            }
        }
        finder.machine
    }
}

/// A chunk decoded as if the line had been idle.
pub(super) struct Part {
    events: Vec<Event>,
    /// The machine at each checkpoint, and the number of events by then.
    checkpoints: Vec<(Machine, usize)>,
}

impl Part {
    /// Decodes `raw`, whose first sample is number `at`; `level` is the line's level before it.
    pub(super) fn decode(wire: &Wire<'_>, raw: &[u8], at: u64, level: u64) -> Self {
        let mut events = Vec::new();
        let mut checkpoints = Vec::with_capacity(raw.len() / CHECKPOINT + 1);
        wire.run(
            raw,
            at,
            Machine::new(level, 0),
            &mut events,
            |_, _, machine, count| {
                checkpoints.push((*machine, count));
                false
            },
        );
        Self {
            events,
            checkpoints,
        }
    }

    /// Completes the chunk from the state in which the previous chunk ended; returns its final
    /// state.
    pub(super) fn join(
        self,
        wire: &Wire<'_>,
        raw: &[u8],
        at: u64,
        machine: Machine,
        out: &mut Vec<Event>,
    ) -> Machine {
        let mut agreed = None;
        let end = wire.run(raw, at, machine, out, |index, at, machine, _| {
            let (guess, events) = &self.checkpoints[index];
            agreed = machine.agrees(guess, at).then_some(*events);
            agreed.is_some()
        });
        let Some(events) = agreed else { return end };
        out.extend_from_slice(&self.events[events..]);
        self.checkpoints.last().map_or(end, |(machine, _)| *machine)
    }
}
