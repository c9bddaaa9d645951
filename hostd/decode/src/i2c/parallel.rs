//! Exact decoding of several chunks at once.
//!
//! A START or STOP determines the whole bus state, whatever came before. So a chunk, whose initial
//! state is unknown, puts the clock rises before its first condition aside and decodes everything
//! after it for good. The join then runs the clock rises put aside through the state in which the
//! previous chunk ended, then that first condition (only the true state tells whether a START is a
//! repeated one), and then takes the rest as it is. There is no guess and no second pass. A chunk
//! without any condition is put aside entirely and thereby decoded in sequence; where memory for
//! that is bounded, it is given up and read again in sequence.

use super::machine::{Direct, Edges, Event, Finder, Machine};
use crate::planes::{CodePath, Taps, run};

/// A clock rise whose meaning is not known yet.
struct Rise {
    at: u64,
    sda: bool,
    fell: bool,
}

/// A chunk decoded without knowing what came before.
pub(crate) struct Part {
    before: Vec<Rise>,
    condition: Option<(u64, bool)>,
    events: Vec<Event>,
    end: Machine,
}

pub(super) struct Unknown<const BITS: bool>(pub(super) Part);

impl<const BITS: bool> Edges for Unknown<BITS> {
    #[inline(always)]
    fn rise(&mut self, at: u64, sda: bool, fell: bool) {
        let Self(part) = self;
        if part.condition.is_some() {
            part.end.rise::<BITS>(at, sda, fell, &mut part.events);
        } else {
            part.before.push(Rise { at, sda, fell });
        }
    }

    #[inline(always)]
    fn condition(&mut self, at: u64, sda: bool) {
        let Self(part) = self;
        if part.condition.is_some() {
            part.end.condition(at, sda, &mut part.events);
        } else {
            part.condition = Some((at, sda));
            part.end = Machine::after_condition(sda);
        }
    }
}

impl Part {
    pub(super) fn new() -> Self {
        Self {
            before: Vec::new(),
            condition: None,
            events: Vec::new(),
            end: Machine::new(),
        }
    }

    /// Clock rises that are put aside.
    pub(super) fn put_aside(&self) -> usize {
        self.before.len()
    }

    /// Decodes the samples `raw`, the first being number `at`. `levels` are the line levels in the
    /// sample before them (SCL in bit 0, SDA in bit 1).
    pub(super) fn decode<const BITS: bool>(
        raw: &[u8],
        taps: &Taps,
        at: u64,
        levels: u64,
        path: CodePath,
    ) -> Self {
        let edges = Unknown::<BITS>(Self::new());
        let mut finder = Finder {
            scl: levels & 1,
            sda: levels >> 1 & 1,
            edges,
        };
        run(raw, taps, at, &mut finder, path);
        finder.edges.0
    }

    /// Completes the chunk from the state in which the previous chunk ended.
    pub(super) fn join<const BITS: bool>(self, known: &mut Direct<'_, BITS>) {
        for rise in self.before {
            known.rise(rise.at, rise.sda, rise.fell);
        }
        if let Some((at, sda)) = self.condition {
            known.condition(at, sda);
            known.out.extend_from_slice(&self.events);
            known.machine = self.end;
        }
    }
}
