//! The I²C decoder as the rest of the crate drives it.

use super::Config;
use super::machine::{Direct, Event, Finder, Machine};
use super::notes::Notes;
use super::parallel::Part;
use crate::annotation::{Annotation, ClassSet};
use crate::planes::{CodePath, Taps, run};
use crate::protocol::{ActiveBlock, Protocol, chunks, run_active};
use rayon::prelude::*;

/// An I²C decoder in the middle of a capture.
pub(crate) struct I2c {
    config: Config,
    wants_bits: bool,
    machine: Machine,
    /// SCL in bit 0, SDA in bit 1; `None` before the first sample.
    levels: Option<u64>,
    notes: Notes,
    events: Vec<Event>,
}

impl I2c {
    pub(crate) fn new(config: Config, shown: ClassSet) -> Self {
        let notes = Notes::new(shown, config.unshifted);
        let wants_bits = shown.has(super::BIT);
        let machine = Machine::new();
        Self {
            config,
            wants_bits,
            machine,
            levels: None,
            notes,
            events: Vec::new(),
        }
    }

    /// Runs `drive` over a finder that starts in the carried state, then carries on.
    fn with_finder<const BITS: bool>(
        &mut self,
        levels: u64,
        drive: impl FnOnce(&mut Finder<Direct<'_, BITS>>),
    ) {
        let edges = Direct {
            machine: self.machine,
            out: &mut self.events,
        };
        let mut finder = Finder {
            scl: levels & 1,
            sda: levels >> 1 & 1,
            edges,
        };
        drive(&mut finder);
        self.machine = finder.edges.machine;
        self.levels = Some(finder.scl | finder.sda << 1);
    }

    fn join<const BITS: bool>(
        &mut self,
        raw: &[u8],
        taps: &Taps,
        at: u64,
        levels: u64,
        chunk: usize,
    ) {
        let parts = chunks(raw, taps.unit(), at, chunk).into_par_iter();
        let parts: Vec<Part> = parts
            .map(|chunk| {
                let levels = chunk.before.map_or(levels, |sample| taps.levels(sample));
                Part::decode::<BITS>(chunk.raw, taps, chunk.at, levels, CodePath::best())
            })
            .collect();
        let mut known = Direct::<BITS> {
            machine: self.machine,
            out: &mut self.events,
        };
        for part in parts {
            part.join(&mut known);
        }
        self.machine = known.machine;
        self.levels = Some(taps.levels(&raw[raw.len() - taps.unit()..]));
    }

    fn annotate(&mut self, out: &mut Vec<Annotation>) {
        self.notes.take(&self.events, out);
        self.events.clear();
    }
}

impl Protocol for I2c {
    fn lanes(&self) -> Vec<Option<usize>> {
        vec![Some(self.config.scl), Some(self.config.sda)]
    }

    fn feed(
        &mut self,
        raw: &[u8],
        taps: &Taps,
        at: u64,
        path: CodePath,
        out: &mut Vec<Annotation>,
    ) {
        if raw.is_empty() {
            return;
        }
        let levels = self.levels.unwrap_or_else(|| taps.levels(raw));
        if self.wants_bits {
            self.with_finder::<true>(levels, |finder| run(raw, taps, at, finder, path));
        } else {
            self.with_finder::<false>(levels, |finder| run(raw, taps, at, finder, path));
        }
        self.annotate(out);
    }

    fn feed_chunks(
        &mut self,
        raw: &[u8],
        taps: &Taps,
        at: u64,
        chunk: usize,
        out: &mut Vec<Annotation>,
    ) {
        if raw.is_empty() {
            return;
        }
        let levels = self.levels.unwrap_or_else(|| taps.levels(raw));
        if self.wants_bits {
            self.join::<true>(raw, taps, at, levels, chunk);
        } else {
            self.join::<false>(raw, taps, at, levels, chunk);
        }
        self.annotate(out);
    }

    fn feed_active(
        &mut self,
        at: u64,
        count: u64,
        levels: u64,
        active: &[ActiveBlock],
        out: &mut Vec<Annotation>,
    ) {
        let levels = self.levels.unwrap_or(levels);
        if self.wants_bits {
            self.with_finder::<true>(levels, |finder| run_active(at, count, active, finder));
        } else {
            self.with_finder::<false>(levels, |finder| run_active(at, count, active, finder));
        }
        self.annotate(out);
    }

    fn finish(&mut self, _end: u64, _out: &mut Vec<Annotation>) {}
}
