//! Exact decoding of several chunks at once.
//!
//! CS edges reset the word; without them, a word's phase is the number of sampling edges so far,
//! modulo its length. So one cheap pass counts each chunk's edges after its last CS edge, a prefix
//! sum gives the phase in which every chunk starts, and the second pass puts aside only the few
//! bits that complete the word begun in the previous chunk.

use super::machine::{Direct, Edges, Event, Finder, Machine, Rules, selection};
use crate::planes::{CodePath, Taps, run};

/// Sampling edges of a chunk.
pub(super) struct Count {
    /// CS changed, and `edges` counts only the edges after that.
    reset: bool,
    edges: u64,
}

impl Edges for Count {
    #[inline(always)]
    fn select(&mut self, _at: u64, _selected: bool) {
        *self = Self {
            reset: true,
            edges: 0,
        };
    }

    #[inline(always)]
    fn bit(&mut self, _at: u64, _bits: (u64, u64)) {
        self.edges += 1;
    }
}

impl Count {
    pub(super) fn of(raw: &[u8], taps: &Taps, levels: u64, rules: &Rules, path: CodePath) -> Self {
        let mut finder = Finder::new(
            rules,
            levels,
            Self {
                reset: false,
                edges: 0,
            },
        );
        run(raw, taps, 0, &mut finder, path);
        finder.edges
    }

    /// Bits in the unfinished word at the end of this chunk, given those at its start.
    pub(super) fn phase_after(&self, phase: u64, rules: &Rules) -> u64 {
        let before = if self.reset { 0 } else { phase };
        (before + self.edges) % u64::from(rules.word_bits())
    }
}

/// A chunk decoded knowing only its phase.
pub(super) struct Part {
    /// Bits still missing from the word that began earlier.
    missing: u64,
    completing: Vec<(u64, (u64, u64))>,
    events: Vec<Event>,
    end: Machine,
}

struct Phased<'a, const BITS: bool> {
    rules: &'a Rules,
    part: Part,
}

impl<const BITS: bool> Edges for Phased<'_, BITS> {
    #[inline(always)]
    fn select(&mut self, at: u64, selected: bool) {
        self.part.missing = 0;
        self.part.end = Machine::new();
        self.part.events.push(selection(at, selected));
    }

    #[inline(always)]
    fn bit(&mut self, at: u64, bits: (u64, u64)) {
        if self.part.missing > 0 {
            self.part.missing -= 1;
            self.part.completing.push((at, bits));
        } else {
            self.part
                .end
                .bit::<BITS>(at, bits, self.rules, &mut self.part.events);
        }
    }
}

impl Part {
    pub(super) fn decode<const BITS: bool>(
        raw: &[u8],
        taps: &Taps,
        at: u64,
        levels: u64,
        (rules, phase): (&Rules, u64),
        path: CodePath,
    ) -> Self {
        let word = u64::from(rules.word_bits());
        let missing = (word - phase) % word;
        let part = Self {
            missing,
            completing: Vec::new(),
            events: Vec::new(),
            end: Machine::new(),
        };
        let mut finder = Finder::new(rules, levels, Phased::<BITS> { rules, part });
        run(raw, taps, at, &mut finder, path);
        finder.edges.part
    }

    /// Completes the chunk from the state in which the previous chunk ended.
    pub(super) fn join<const BITS: bool>(self, known: &mut Direct<'_, BITS>) {
        for (at, bits) in self.completing {
            known.bit(at, bits);
        }
        if self.missing == 0 {
            known.out.extend_from_slice(&self.events);
            known.machine = self.end;
        }
    }
}
