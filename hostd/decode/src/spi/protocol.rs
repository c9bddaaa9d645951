//! The SPI decoder as the rest of the crate drives it.

use super::Config;
use super::machine::{Direct, Event, Finder, Machine, Rules, selection};
use super::notes::Notes;
use super::parallel::{Count, Part};
use crate::annotation::{Annotation, ClassSet};
use crate::planes::{CodePath, Taps, run};
use crate::protocol::{ActiveBlock, Protocol, chunks, run_active};
use rayon::prelude::*;

/// An SPI decoder in the middle of a capture.
pub(crate) struct Spi {
    lanes: [Option<usize>; 4],
    rules: Rules,
    wants_bits: bool,
    machine: Machine,
    /// Levels of the lanes; `None` before the first sample.
    levels: Option<u64>,
    notes: Notes,
    events: Vec<Event>,
}

impl Spi {
    pub(crate) fn new(config: &Config, shown: ClassSet) -> Self {
        Self {
            lanes: [Some(config.clk), config.cs, config.mosi, config.miso],
            rules: Rules::new(config),
            wants_bits: shown.has(super::MISO_BITS) || shown.has(super::MOSI_BITS),
            machine: Machine::new(),
            levels: None,
            notes: Notes::new(shown, config),
            events: Vec::new(),
        }
    }

    /// Levels before sample `at`. A capture that begins with the chip selected begins a transfer.
    fn levels_before(&mut self, at: u64, first: impl FnOnce() -> u64) -> u64 {
        if let Some(levels) = self.levels {
            return levels;
        }
        let levels = first();
        if self.rules.selects(levels) {
            self.events.push(selection(at, true));
        }
        levels
    }

    fn with_finder<const BITS: bool>(
        &mut self,
        levels: u64,
        drive: impl FnOnce(&mut Finder<'_, Direct<'_, BITS>>),
    ) {
        let rules = &self.rules;
        let edges = Direct {
            rules,
            machine: self.machine,
            out: &mut self.events,
        };
        let mut finder = Finder::new(rules, levels, edges);
        drive(&mut finder);
        self.machine = finder.edges.machine;
        self.levels = Some(finder.clk | finder.cs << 1);
    }

    fn join<const BITS: bool>(
        &mut self,
        raw: &[u8],
        taps: &Taps,
        at: u64,
        levels: u64,
        chunk: usize,
    ) {
        let (rules, path) = (&self.rules, CodePath::best());
        let cut = chunks(raw, taps.unit(), at, chunk);
        let before = |sample: Option<&[u8]>| sample.map_or(levels, |sample| taps.levels(sample));
        let counts: Vec<Count> = cut
            .par_iter()
            .map(|chunk| Count::of(chunk.raw, taps, before(chunk.before), rules, path))
            .collect();
        let mut phase = u64::from(self.machine.count());
        let mut phases = Vec::with_capacity(counts.len());
        for count in &counts {
            phases.push(phase);
            phase = count.phase_after(phase, rules);
        }
        let parts: Vec<Part> = cut
            .into_par_iter()
            .zip(phases)
            .map(|(chunk, phase)| {
                let levels = before(chunk.before);
                let known = (rules, phase);
                Part::decode::<BITS>(chunk.raw, taps, chunk.at, levels, known, path)
            })
            .collect();
        let mut known = Direct::<BITS> {
            rules,
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

impl Protocol for Spi {
    fn lanes(&self) -> Vec<Option<usize>> {
        self.lanes.to_vec()
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
        let levels = self.levels_before(at, || taps.levels(raw));
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
        let levels = self.levels_before(at, || taps.levels(raw));
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
        let levels = self.levels_before(at, || levels);
        if self.wants_bits {
            self.with_finder::<true>(levels, |finder| run_active(at, count, active, finder));
        } else {
            self.with_finder::<false>(levels, |finder| run_active(at, count, active, finder));
        }
        self.annotate(out);
    }

    fn finish(&mut self, _end: u64, _out: &mut Vec<Annotation>) {}
}
